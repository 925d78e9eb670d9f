// Follows every link of a built site: node check.mjs FOLDER. A link within the site must lead to a file, and to an id
// in it; nothing may be loaded from elsewhere. What is elsewhere is counted and not asked for. Diagrams must be valid
// Mermaid.
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { JSDOM } from 'jsdom'

globalThis.window = new JSDOM('').window // which Mermaid needs when it is imported
globalThis.document = window.document
const { default: mermaid } = await import('mermaid')

const site = resolve(process.argv[2])
const base = process.env.SITE_BASE ?? '/'
const ENTITIES = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&nbsp;': ' ' }

const plain = (text) => text.replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (entity) => ENTITIES[entity])
const files = readdirSync(site, { recursive: true })
  .map((name) => join(site, name))
  .filter((file) => statSync(file).isFile())
const pages = files.filter((file) => file.endsWith('.html'))
const parsed = new Map()

function page(file) {
  if (!parsed.has(file)) {
    const html = readFileSync(file, 'utf8').replace(/<!--[\s\S]*?-->/g, '').replace(/<script\b[^>]*>[\s\S]*?<\/script>/g, (tag) => tag.slice(0, tag.indexOf('>') + 1))
    const tags = html.match(/<[a-z][^>]*>/gi) ?? []
    const attributes = (name) => tags.flatMap((tag) => [...tag.matchAll(new RegExp(`\\s${name}="([^"]*)"`, 'g'))].map((hit) => ({ tag, value: plain(hit[1]) })))
    parsed.set(file, { ids: new Set([...attributes('id'), ...attributes('name')].map((id) => id.value)), links: [...attributes('href'), ...attributes('src')] })
  }
  return parsed.get(file)
}

const dead = []
let followed = 0
let elsewhere = 0
for (const file of pages) {
  for (const { tag, value } of page(file).links) {
    if (/^(https?:)?\/\//.test(value)) {
      elsewhere++
      if (!/^<a\b/i.test(tag)) {
        dead.push(`${relative(site, file)}: loads ${value}`)
      }
      continue
    }
    if (/^(mailto|data|javascript):/.test(value)) {
      continue
    }
    followed++
    const [path, anchor] = value.split(/#(.*)/s)
    const name = decodeURIComponent(path.split('?')[0])
    const absolute = name.startsWith(base) ? join(site, name.slice(base.length)) : resolve(dirname(file), name)
    let target = name === '' ? file : absolute
    if (existsSync(target) && statSync(target).isDirectory()) {
      target = join(target, 'index.html')
    }
    if (!existsSync(target)) {
      dead.push(`${relative(site, file)}: ${value}: no such file`)
    } else if (anchor && target.endsWith('.html')) {
      const ids = page(target).ids
      const ofJavadoc = value === '#io.github' // A table of contents that the tool itself gets wrong.
      if (!ofJavadoc && !ids.has(anchor) && !ids.has(decodeURIComponent(anchor))) {
        dead.push(`${relative(site, file)}: ${value}: no such place`)
      }
    }
  }
}
for (const file of files.filter((name) => name.endsWith('.css'))) {
  for (const [, url] of readFileSync(file, 'utf8').matchAll(/(?:url\(|@import )\s*['"]?([^'")\s]+)/g)) {
    const target = url.startsWith(base) ? join(site, url.slice(base.length)) : resolve(dirname(file), url)
    if (!/^(data:|#)/.test(url) && (/^(https?:)?\/\//.test(url) || !existsSync(target))) {
      dead.push(`${relative(site, file)}: loads ${url}`)
    }
  }
}

let diagrams = 0
for (const file of pages) {
  for (const [, source] of readFileSync(file, 'utf8').matchAll(/<pre class="diagram">([\s\S]*?)<\/pre>/g)) {
    diagrams++
    await mermaid.parse(plain(source)).catch((error) => dead.push(`${relative(site, file)}: not Mermaid: ${error.message}`))
  }
}

dead.forEach((line) => console.error(line))
console.log(`${pages.length} pages, ${diagrams} diagrams, ${followed} links followed, ${dead.length} dead or invalid; ${elsewhere} lead elsewhere`)
process.exit(dead.length === 0 && diagrams > 0 && followed > 1000 ? 0 : 1)
