/** A judge that keeps everything. */
import { serveRenders } from '../../../src/sync/render/worker/serve.ts';

const kept: unknown[] = [];
serveRenders(async () => {
  for (;;) kept.push(Array.from({ length: 1000 }, (_, index) => ({ index })));
});
