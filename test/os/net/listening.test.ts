import { createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { readListeningPorts } from '../../../src/os/net/listening.ts';

const ENDED = 2 ** 22 + 1;

it('finds a port on which this process listens, until it is closed', async () => {
  const server = createServer();
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  expect((await readListeningPorts([process.pid])).get(process.pid)).toContain(port);
  await new Promise((resolve) => void server.close(resolve));
  expect((await readListeningPorts([process.pid])).get(process.pid)).not.toContain(port);
});

it('tells the ports of one process from those of another one, and has none of one that has ended', async () => {
  const server = createServer();
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => void server.listen(0, '::', resolve));
  const found = await readListeningPorts([process.pid, process.ppid, ENDED]);
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  expect(found.get(process.pid)).toContain(port);
  expect(found.get(process.ppid)).not.toContain(port);
  expect(found.get(ENDED)).toEqual([]);
});
