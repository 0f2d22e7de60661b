/** A judge that runs out of stack. */
import { serveRenders } from '../../../src/sync/render/worker/serve.ts';

serveRenders(async () => recurse());

function recurse(): never {
  return recurse();
}
