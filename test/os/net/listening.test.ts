import { createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { readListeningPorts } from '../../../src/os/net/listening.ts';

it('finds a port on which this process listens, until it is closed', async () => {
  const server = createServer();
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  expect(await readListeningPorts(process.pid)).toContain(port);
  await new Promise((resolve) => void server.close(resolve));
  expect(await readListeningPorts(process.pid)).not.toContain(port);
});

it('has no port of a process that has ended', async () => {
  expect(await readListeningPorts(2 ** 22 + 1)).toEqual([]);
});
