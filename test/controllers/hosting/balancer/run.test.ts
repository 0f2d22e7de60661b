import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { balancerCommand } from '../../../../src/cli/hosting/programs.ts';
import { runBalancer } from '../../../../src/controllers/hosting/balancer/run.ts';
import { createAuthority } from '../../../../src/local/pki/certificate.ts';
import { httpGet } from '../../../../src/os/net/http-get.ts';
import { listenOn } from '../../../../src/os/net/http-server.ts';
import { findFreePort, isPortFree } from '../../../../src/os/net/ports.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { tempFolder } from '../../../support/temp.ts';

const HOST = '127.0.0.1';
const READY = { interval: 50 };

it('HOS-13 shares the port of clients with another balancer, so that clients are served when one of them ends', async () => {
  const caFile = caIn(tempFolder('balancer'));
  const backend = await answering();
  const port = await findFreePort();
  const healthPorts = [await findFreePort(), await findFreePort()];
  const start = (healthPort: number): ChildProcess => {
    const { program, args } = balancerCommand({ port, healthPort, backends: [backend], caFile });
    const child = spawn(program, args, { stdio: 'ignore' });
    onTestFinished(() => void child.kill('SIGKILL'));
    return child;
  };
  const [first] = healthPorts.map(start);
  for (const healthPort of healthPorts) await expect.poll(() => isReady(healthPort), READY).toBe(200);
  const ask = async (): Promise<string> => await text(connect({ host: HOST, port }));
  for (let n = 0; n < 10; n += 1) expect(await ask()).toBe('answer');
  first?.kill('SIGKILL');
  if (first) await once(first, 'exit');
  for (let n = 0; n < 20; n += 1) expect(await ask()).toBe('answer');
});

it('serves until its signal aborts, and gives both of its ports back', async () => {
  const caFile = caIn(tempFolder('balancer'));
  const backend = await answering();
  const [port, healthPort] = [await findFreePort(), await findFreePort()];
  const stopped = new AbortController();
  const running = runBalancer({
    port,
    isOutside: false,
    healthPort,
    backends: [backend],
    caFile,
    clock: createSystemClock(),
    signal: stopped.signal,
  });
  await expect.poll(() => isPortFree(healthPort), READY).toBe(false);
  expect(await text(connect({ host: HOST, port }))).toBe('answer');
  stopped.abort();
  await running;
  expect([await isPortFree(port), await isPortFree(healthPort)]).toEqual([true, true]);
});

it.each([
  ['HOS-41 has no more connections of other machines than its limit', true, 'closed'],
  ['HOS-13 has no such limit for clients of this machine', false, 'open'],
])('%s', async (_, isOutside, expected) => {
  const caFile = caIn(tempFolder('balancer'));
  const held = createServer((socket) => void socket.resume().write('held'));
  onTestFinished(() => void held.close());
  const backend = await listenOn(held, 'a test', { host: HOST, port: 0 });
  const [port, healthPort] = [await findFreePort(), await findFreePort()];
  const stopped = new AbortController();
  const { signal } = stopped;
  const clock = createSystemClock();
  const options = { port, isOutside, maxOutside: 1, healthPort, backends: [backend], caFile, clock, signal };
  const running = runBalancer(options);
  await expect.poll(() => isReady(healthPort), READY).toBe(200);
  const first = connect({ host: HOST, port });
  await once(first, 'data');
  const second = connect({ host: HOST, port }).resume();
  const found = await Promise.race([
    once(second, 'close').then(() => 'closed'),
    once(second, 'data').then(() => 'open'),
  ]);
  for (const client of [first, second]) client.destroy();
  stopped.abort();
  await running;
  expect(found).toBe(expected);
});

function caIn(folder: string): string {
  const caFile = join(folder, 'ca.crt');
  writeFileSync(caFile, createAuthority('ca', createSystemClock().now(), 1).certPem);
  return caFile;
}

async function answering(): Promise<number> {
  const server = createServer((socket) => socket.end('answer'));
  onTestFinished(() => void server.close());
  return await listenOn(server, 'a test', { host: HOST, port: 0 });
}

async function isReady(healthPort: number): Promise<number | undefined> {
  const url = `http://${HOST}:${healthPort}/readyz`;
  return (await httpGet(url, AbortSignal.timeout(1000)).catch(() => undefined))?.status;
}
