// Looks at a built site in a browser: node look.mjs FOLDER BROWSER. At the widths of a small laptop and of a phone no
// page may be wider than the window, and nothing of the front page's picture and first example may be cut.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { extname, join, relative, resolve } from 'node:path'

const [folder, browser] = process.argv.slice(2)
const site = resolve(folder)
const base = process.env.SITE_BASE ?? '/'
const WIDTHS = [1280, 390]
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.json': 'application/json' }

const pages = readdirSync(site, { recursive: true })
  .filter((name) => name.endsWith('.html') && !name.startsWith('api/') && name !== '404.html')
  .map((name) => base + name)

/** Runs in the browser: a frame of each width on each page, one after the other. */
async function look(pages, widths, base) {
  const wrong = []
  for (const width of widths) {
    const frame = document.body.appendChild(document.createElement('iframe'))
    frame.style.cssText = `width: ${width}px; height: 900px; border: 0`
    for (const page of pages) {
      await new Promise((loaded) => {
        frame.onload = loaded
        frame.src = page
      })
      const shown = frame.contentDocument
      await Promise.all([...shown.images].map((image) => image.decode().catch(() => wrong.push(`${page}: ${image.src} is no picture`))))
      const root = shown.documentElement
      if (root.scrollWidth > root.clientWidth) {
        wrong.push(`${page} at ${width}: ${root.scrollWidth} wide`)
      }
      if (page === base + 'index.html') {
        const text = shown.querySelector('.vp-doc')
        const picture = text.querySelector('img')
        const box = picture.getBoundingClientRect()
        const halves = picture.currentSrc.includes('narrow') ? 1 : 2
        if (box.right > width || box.width < 280 * halves || picture.parentElement.scrollWidth > picture.parentElement.clientWidth) {
          wrong.push(`${page} at ${width}: the picture is cut or too small, ${box.width} wide up to ${box.right}`)
        }
        const code = text.querySelector('pre')
        if (code.scrollWidth > code.clientWidth) {
          wrong.push(`${page} at ${width}: the first example is cut, ${code.scrollWidth} of ${code.clientWidth}`)
        }
      }
    }
    frame.remove()
  }
  return wrong
}

const start = `<!doctype html><body><script>(${look})(${JSON.stringify(pages)}, ${JSON.stringify(WIDTHS)}, ${JSON.stringify(base)})
  .then((wrong) => fetch('/seen', { method: 'POST', body: JSON.stringify(wrong) }), (error) => fetch('/seen', { method: 'POST', body: JSON.stringify([String(error)]) }))</script>`

let told
const seen = new Promise((done) => (told = done))
const server = createServer((request, response) => {
  const path = decodeURIComponent(request.url.split('?')[0])
  if (path === '/seen') {
    let body = ''
    request.on('data', (part) => (body += part)).on('end', () => {
      response.end()
      told(JSON.parse(body))
    })
    return
  }
  const file = join(site, path.startsWith(base) ? path.slice(base.length) : path)
  const found = path !== '/look' && !relative(site, file).startsWith('..') && existsSync(file) && statSync(file).isFile()
  response.writeHead(path === '/look' || found ? 200 : 404, { 'content-type': path === '/look' ? 'text/html' : (TYPES[extname(file)] ?? 'application/octet-stream') })
  response.end(path === '/look' ? start : found ? readFileSync(file) : '')
})
await new Promise((listening) => server.listen(0, '127.0.0.1', listening))

const profile = mkdtempSync(join(tmpdir(), 'look-'))
const shown = spawn(
  browser,
  ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', '--disable-background-networking', '--remote-debugging-port=0', `--user-data-dir=${profile}`, `http://127.0.0.1:${server.address().port}/look`],
  { stdio: 'ignore' },
)
const wrong = await Promise.race([
  seen,
  new Promise((done) => shown.on('exit', () => done(['the browser ended before it had seen the pages']))),
  new Promise((done) => setTimeout(() => done(['the browser has not seen the pages in five minutes']), 300_000)),
])
shown.removeAllListeners('exit')
const ended = new Promise((done) => shown.on('exit', done))
shown.kill()
await ended
server.close()
server.closeAllConnections()
rmSync(profile, { recursive: true, force: true, maxRetries: 5 })

wrong.forEach((line) => console.error(line))
console.log(`${pages.length} pages looked at, ${WIDTHS.join(' and ')} wide: ${wrong.length} too wide or cut`)
process.exit(wrong.length === 0 && pages.length > 20 ? 0 : 1)
