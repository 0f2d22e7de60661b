/** A server of artifacts for nodes, on the address of this machine that they reach. */
import { createHash } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sha256OfFile } from '../../../src/os/files.ts';

export interface FileServer {
  /** URL and digest of a file that the nodes download. */
  readonly serve: (file: string) => Promise<{ readonly url: string; readonly sha256: string }>;
  readonly close: () => Promise<void>;
}

/** Serves files by their digest, as a site of artifacts does. */
export async function startFileServer(host: string): Promise<FileServer> {
  const files = new Map<string, string>();
  const server = createServer((request, response) => {
    const file = files.get(request.url ?? '');
    if (file === undefined) response.writeHead(404).end();
    else createReadStream(file).pipe(response.writeHead(200, { 'content-length': statSync(file).size }));
  });
  const { promise: listening, resolve } = Promise.withResolvers<void>();
  server.listen(0, host, resolve);
  await listening;
  const { port } = server.address() as AddressInfo;
  return {
    async serve(file) {
      const sha256 = await sha256OfFile(file);
      const path = `/${createHash('sha256').update(file).digest('hex').slice(0, 8)}-${sha256}`;
      files.set(path, file);
      return { url: `http://${host}:${port}${path}`, sha256 };
    },
    close: async () => {
      server.closeAllConnections();
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      await closed.promise;
    },
  };
}
