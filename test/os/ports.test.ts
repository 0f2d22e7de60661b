import { createServer, type Server } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findFreePort, findNextPort, isPortFree } from '../../src/os/ports.ts';

describe('isPortFree', () => {
  it('is false while another server listens on the port', async () => {
    const port = await findFreePort();
    expect(await isPortFree(port)).toBe(true);
    const server = await listen(port);
    expect(await isPortFree(port)).toBe(false);
    server.close();
  });

  it('names an address that this machine does not have', async () => {
    await expect(isPortFree(6443, '192.0.2.77')).rejects.toMatchObject({
      code: 'PortInUse',
      message: 'this machine does not have that address',
      where: '192.0.2.77:6443',
      hint: expect.stringContaining('ip address') as string,
    });
  });
});

describe('findNextPort', () => {
  it('skips ports that are taken or in use', async () => {
    const from = await findFreePort();
    await listen(from);
    const next = await findNextPort(new Set([from + 1]), '127.0.0.1', from);
    expect(next).toBeGreaterThan(from + 1);
    expect(await isPortFree(next)).toBe(true);
  });

  it('fails when every port up to the last is taken', async () => {
    const promise = findNextPort(new Set([65_534, 65_535]), '127.0.0.1', 65_534);
    await expect(promise).rejects.toMatchObject({
      code: 'PortInUse',
      message: 'no free port from 65534 to 65535',
    });
  });
});

async function listen(port: number): Promise<Server> {
  const server = createServer();
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return server;
}
