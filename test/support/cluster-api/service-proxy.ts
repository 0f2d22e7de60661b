/**
 * Routes the name of a Service to a process of this machine, as kube-proxy and the DNS of a cluster do: a program calls the Service by its own
 * name and port, and checks the certificate for that name. Go programs use it by the variable HTTPS_PROXY.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

export interface ServiceProxy {
  /** The variables of a program that calls through it. */
  readonly env: Readonly<Record<string, string>>;
  /** Such as `web.fleet.svc:443` to a port of this machine. */
  route(service: string, port: number): void;
  close(): Promise<void>;
}

export async function startServiceProxy(): Promise<ServiceProxy> {
  const routes = new Map<string, number>();
  const open = new Set<Duplex>();
  const server = createServer((_, response) => response.writeHead(405).end());
  server.on('connect', (request: IncomingMessage, client: Duplex) => {
    const port = routes.get(request.url ?? '');
    client.on('error', () => undefined);
    if (port === undefined) client.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
    else tunnel(client, connect({ port, host: '127.0.0.1' }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    // Go takes the first of each pair that is set.
    env: { HTTPS_PROXY: url, https_proxy: url, NO_PROXY: '', no_proxy: '' },
    route: (service, port) => void routes.set(service, port),
    async close() {
      for (const each of open) each.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };

  function tunnel(client: Duplex, target: Socket): void {
    for (const each of [client, target]) {
      open.add(each);
      each.on('close', () => open.delete(each));
    }
    target.on('error', () => void client.destroy());
    client.on('close', () => void target.destroy());
    target.once('connect', () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      client.pipe(target).pipe(client);
    });
  }
}
