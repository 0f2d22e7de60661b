import { createServer } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { balancerCommand } from '../../../../../../src/cli/hosting/programs.ts';
import { createBackends } from '../../../../../../src/controllers/hosting/balancer/backends.ts';
import { formatHealth } from '../../../../../../src/controllers/hosting/balancer/health.ts';
import { balancerMembers } from '../../../../../../src/controllers/hosting/drivers/process/api-servers/balancers.ts';
import type { MemberAnswer } from '../../../../../../src/controllers/hosting/drivers/process/member-spec.ts';
import { createLayout } from '../../../../../../src/local/layout.ts';
import { closeServer, listenOn } from '../../../../../../src/os/net/http-server.ts';
import { findFreePort } from '../../../../../../src/os/net/ports.ts';

const PORTS = [21, 22, 23];

async function probed(healthPort: number): Promise<MemberAnswer | undefined> {
  const cluster = {
    name: 'ci',
    port: 1,
    controllerManagerPort: 2,
    schedulerPort: 3,
    bindAddress: '127.0.0.1',
    names: [],
    controllers: true,
    apiServers: { replicas: 2, ports: PORTS, balancerPorts: [healthPort] },
  };
  const state = { version: 1, etcdPort: 11, clusters: [cluster] } as const;
  const [spec] = balancerMembers({ state, layout: createLayout('/ci'), balancer: balancerCommand });
  return await spec?.probe([]);
}

async function answering(body: string): Promise<number> {
  const server = createServer((_, response) => response.end(body));
  onTestFinished(async () => await closeServer(server));
  return await listenOn(server, 'a test', { host: '127.0.0.1', port: 0 });
}

it('HOS-22 reports which API servers a balancer finds ready, and of an earlier one that it answers', async () => {
  const backends = createBackends(PORTS);
  for (const backend of backends) backend.isReady = backend.port !== 22;
  expect(await probed(await answering(formatHealth(backends)))).toEqual({
    isReady: true,
    reaches: ['kube-apiserver', 'kube-apiserver-2'],
  });
  expect(await probed(await answering('ok\n'))).toEqual({ isReady: true });
  expect(await probed(await findFreePort())).toEqual({ isReady: false });
});
