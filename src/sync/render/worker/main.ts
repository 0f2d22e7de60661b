/** Runs the render worker. client.ts starts this program, and nothing imports it. */
import { serveRenders } from './serve.ts';

serveRenders();
