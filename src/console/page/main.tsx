/** The page of the console. */
import { render } from 'preact';
import { App } from './app.tsx';

const root = document.querySelector('#console');
// It contains what is shown if this file does not load.
root?.replaceChildren();
if (root) render(<App />, root);
