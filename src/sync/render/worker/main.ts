/** The program of the render worker. Started by client.ts, never imported. */
import { serveRenders } from './serve.ts';

serveRenders();
