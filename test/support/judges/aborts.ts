/** A judge that ends its process, as a bug of Node would. */
import { serveRenders } from '../../../src/sync/render/worker/serve.ts';

serveRenders(async () => process.abort());
