import { cpSync, existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, posix, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'

const site = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const root = resolve(site, '../..')
const pages = join(site, 'target/pages')

/** The pages are copied below this folder, because what they become needs its node_modules. */
rmSync(pages, { recursive: true, force: true })
const documents = readdirSync(join(root, 'docs')).filter((name) => name !== 'site').map((name) => `docs/${name}`)
for (const file of [...documents, 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'defects/README.md', 'models/README.md']) {
  cpSync(join(root, file), join(pages, file), { recursive: true })
}

/** The halves of the picture one above the other, for narrow windows. */
const stacked = readFileSync(join(pages, 'docs/hand-over.svg'), 'utf8')
  .replace('viewBox="0 0 960 392"', 'viewBox="0 0 486 772"')
  .replace('width="959" height="391"', 'width="485" height="771"')
  .replace('x="486" y="12"', 'x="12" y="392"')
  .replace('translate(486 12)', 'translate(12 392)')
if (stacked.includes('486 12')) {
  throw new Error('hand-over.svg has changed: its halves cannot be put one above the other')
}
writeFileSync(join(pages, 'docs/hand-over-narrow.svg'), stacked)

/** The pages, as they are named on the site. The order is that of the sidebar. */
const sidebar = [
  {
    text: 'Start',
    items: [
      { text: 'What it is', link: '/' },
      { text: 'Getting started', link: '/getting-started' },
      { text: 'Supported versions', link: '/versions' },
    ],
  },
  {
    text: 'Use',
    items: [
      { text: 'Semantics', link: '/semantics' },
      { text: 'Read locks and semaphores', link: '/shares' },
      { text: 'The lock that stays', link: '/retention' },
      { text: 'Jobs on many nodes', link: '/jobs' },
      { text: 'Leader election', link: '/election' },
      { text: 'Spring Boot', link: '/spring-boot' },
      { text: '@WithLock', link: '/with-lock' },
      { text: 'Idempotency-Key', link: '/idempotency' },
      { text: 'Kotlin', link: '/kotlin' },
      { text: 'Code that blocks', link: '/blocking' },
      { text: 'Adapters', link: '/adapters' },
      { text: 'Testing', link: '/testing' },
      { text: 'Threads and cancellation', link: '/threads' },
      { text: 'Operations', link: '/operations' },
      { text: 'Command line', link: '/cli' },
      { text: 'Metrics and traces', link: '/metrics' },
      { text: 'Security', link: '/security' },
    ],
  },
  {
    text: 'Stores',
    items: [
      { text: 'Redis through Lettuce', link: '/stores/redis-lettuce' },
      { text: 'Redis through Vert.x', link: '/stores/redis-vertx' },
      { text: 'Quorum of Redis', link: '/stores/quorum' },
      { text: 'etcd', link: '/stores/etcd' },
      { text: 'ZooKeeper', link: '/stores/zookeeper' },
      { text: 'Consul', link: '/stores/consul' },
      { text: 'SQL databases', link: '/stores/sql' },
      { text: 'In the process', link: '/stores/memory' },
      { text: 'A store of your own', link: '/stores/your-own' },
    ],
  },
  {
    text: 'Change over',
    items: [
      { text: 'From Redisson', link: '/migrating/redisson' },
      { text: 'From ShedLock', link: '/migrating/shedlock' },
      { text: 'From Spring Integration', link: '/migrating/spring-integration' },
      { text: 'From Curator', link: '/migrating/curator' },
      { text: 'From Consul’s own', link: '/migrating/consul' },
      { text: 'Beside the first four', link: '/peers' },
    ],
  },
  {
    text: 'Evidence',
    items: [
      { text: 'Guarantees', link: '/guarantees' },
      { text: 'Faults that were tried', link: '/faults' },
      { text: 'Performance', link: '/performance' },
      { text: 'Soak and simulation', link: '/soak' },
      { text: 'Models', link: '/models' },
      { text: 'Defects and their tests', link: '/defects' },
    ],
  },
  {
    text: 'Design',
    collapsed: true,
    items: [
      { text: 'In short', link: '/design' },
      { text: 'Flows and the cohort', link: '/design/cohort' },
      { text: 'Claims', link: '/design/claims' },
      { text: 'Time', link: '/design/time' },
      { text: 'Holds', link: '/design/holds' },
      { text: 'The lock that stays', link: '/design/retention' },
      { text: 'Shares', link: '/design/shares' },
      { text: 'User code and threads', link: '/design/user-code' },
      { text: 'Leader election', link: '/design/election' },
      { text: 'Speed', link: '/design/speed' },
      { text: 'Redis', link: '/design/redis' },
      { text: 'The quorum', link: '/design/quorum' },
      { text: "The quorum's readers", link: '/design/quorum-readers' },
      { text: 'etcd', link: '/design/etcd' },
      { text: 'ZooKeeper', link: '/design/zookeeper' },
      { text: 'Consul', link: '/design/consul' },
      { text: 'SQL: the claims', link: '/design/sql' },
      { text: 'SQL: waking', link: '/design/sql-push' },
      { text: 'A defect of r2dbc-mariadb', link: '/design/r2dbc-mariadb' },
      { text: 'SQL: connections', link: '/design/sql-connections' },
      { text: 'In the process', link: '/design/memory' },
      { text: 'The Spring Boot starter', link: '/design/spring' },
      { text: 'What is published', link: '/design/published' },
      { text: 'The proofs', link: '/design/proofs' },
    ],
  },
  {
    text: 'Project',
    items: [
      { text: 'Changes', link: '/changelog' },
      { text: 'Contributing', link: '/contributing' },
      { text: 'Reporting a vulnerability', link: '/vulnerabilities' },
    ],
  },
]

/** Files of the repository that are pages, and their names on the site. */
const rewrites = {
  'docs/README.md': 'index.md',
  'CHANGELOG.md': 'changelog.md',
  'CONTRIBUTING.md': 'contributing.md',
  'SECURITY.md': 'vulnerabilities.md',
  'defects/README.md': 'defects.md',
  'models/README.md': 'models.md',
  'docs/:page.md': ':page.md',
  'docs/:folder/:page.md': ':folder/:page.md',
}

function nameOnSite(file) {
  return rewrites[file] ?? (file.startsWith('docs/') ? file.slice('docs/'.length) : undefined)
}

/** Links are relative to the files of the repository, as a forge follows them; here they follow the rewrites. */
function followRewrites(md) {
  md.core.ruler.push('follow-rewrites', (state) => {
    const page = relative(pages, state.env.realPath ?? join(pages, state.env.relativePath))
    for (const token of state.tokens.flatMap((block) => [block, ...(block.children ?? [])])) {
      const href = token.type === 'link_open' ? token.attrGet('href') : null
      if (!href || /^([a-z]+:|#)/.test(href)) {
        continue
      }
      const [file, anchor] = href.split('#')
      const target = posix.join(posix.dirname(page), file)
      const name = nameOnSite(target)
      if (!target.endsWith('.md') || !name || !existsSync(join(root, target))) {
        throw new Error(`${page}: the link ${href} leads to no page`)
      }
      token.attrSet('href', '/' + name + (anchor ? '#' + anchor : ''))
    }
  })
}

/** A forge draws blocks of Mermaid; here the component Diagram does. */
function drawDiagrams(md) {
  const fence = md.renderer.rules.fence
  md.renderer.rules.fence = (tokens, index, ...rest) =>
    tokens[index].info.trim() === 'mermaid'
      ? `<Diagram source="${encodeURIComponent(tokens[index].content)}" />\n`
      : fence(tokens, index, ...rest)
}

/** A picture of two halves is shown stacked where it would be too small to read. */
function stackPictures(md) {
  const image = md.renderer.rules.image
  md.renderer.rules.image = (tokens, index, ...rest) => {
    const shown = image(tokens, index, ...rest)
    return tokens[index].attrGet('src').endsWith('hand-over.svg')
      ? `<picture class="hand-over"><source media="(max-width: 639px)" srcset="./hand-over-narrow.svg">${shown}</picture>`
      : shown
  }
}

/** Headings are named as forges name them, so that a link works in both places. */
function slugify(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}

export default defineConfig({
  title: 'reactive-lock',
  description: 'Distributed locks for Project Reactor and Vert.x',
  lang: 'en',
  base: process.env.SITE_BASE ?? '/',
  srcDir: pages,
  outDir: join(site, 'target/site'),
  cacheDir: join(site, 'target/cache'),
  rewrites,
  cleanUrls: false,
  metaChunk: true,
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  markdown: {
    anchor: { slugify },
    config: (md) => {
      followRewrites(md)
      drawDiagrams(md)
      stackPictures(md)
    },
  },
  themeConfig: {
    nav: [
      { text: 'Start', link: '/getting-started' },
      { text: 'Semantics', link: '/semantics' },
      { text: 'Guarantees', link: '/guarantees' },
      { text: 'Javadoc', link: '/api/index.html', target: '_self' },
    ],
    sidebar,
    outline: { level: [2, 3] },
    search: { provider: 'local' },
  },
})
