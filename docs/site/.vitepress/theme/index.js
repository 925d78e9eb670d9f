// The default theme with the fonts of the system: nothing is loaded from elsewhere.
import DefaultTheme from 'vitepress/theme-without-fonts'
import Diagram from './Diagram.js'
import './style.css'

export default {
  extends: DefaultTheme,
  enhanceApp: ({ app }) => app.component('Diagram', Diagram),
}
