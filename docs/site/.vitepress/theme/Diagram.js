// A drawing in Mermaid's language. It is drawn in the browser, in the colours of the page; until then its text shows.
import { useData } from 'vitepress'
import { defineComponent, h, onMounted, ref, watch } from 'vue'

let drawn = 0

export default defineComponent({
  props: { source: { type: String, required: true } },
  setup(props) {
    const { isDark } = useData()
    const source = decodeURIComponent(props.source)
    const svg = ref('')

    async function draw() {
      const { default: mermaid } = await import('mermaid')
      mermaid.initialize({ startOnLoad: false, securityLevel: 'strict', theme: isDark.value ? 'dark' : 'neutral' })
      svg.value = (await mermaid.render(`diagram-${drawn++}`, source)).svg
    }

    onMounted(draw)
    watch(isDark, draw)
    return () => (svg.value ? h('div', { class: 'diagram', innerHTML: svg.value }) : h('pre', { class: 'diagram' }, source))
  },
})
