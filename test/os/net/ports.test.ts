import { createServer, type Server } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findFreePort, findNextPort, isPortFree } from '../../../src/os/net/ports.ts';

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

describe('findFreePort', () => {
  it('finds ports in no order, so that programs that start at the same moment part', async () => {
    const ports = new Set<number>();
    for (let count = 0; count < 5; count += 1) ports.add(await findFreePort());
    const [lowest, highest] = [Math.min(...ports), Math.max(...ports)];
    expect(highest - lowest).toBeGreaterThan(5);
  });

  it('returns none of the ports that are taken', async () => {
    const last = 32_767;
    const taken = new Set(Array.from({ length: last - 16_443 }, (_, index) => 16_443 + index));
    expect(await findFreePort('127.0.0.1', taken)).toBe(last);
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
