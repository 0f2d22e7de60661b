/** A judge that something else kills. */
import { serveRenders } from '../../../src/sync/render/worker/serve.ts';

serveRenders(async () => {
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => undefined);
});
