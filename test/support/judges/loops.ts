/** A judge that never ends. */
import { serveRenders } from '../../../src/sync/render/worker/serve.ts';

serveRenders(async () => {
  for (;;);
});
