import { expect, it } from 'vitest';
import type { FleetProgram } from '../../../src/demo/start/programs.ts';
import { serveMetrics } from '../../../src/demo/start/serve-metrics.ts';

function programOf(name: string, ...args: readonly string[]): FleetProgram {
  return { name, command: ['node', 'main.ts', ...args], env: {}, logFile: 'x.log' };
}

it('DAT-08 gives each program that serves metrics a port of its own, by which it is expected', async () => {
  const programs = [
    programOf('sync', 'sync', '--from', '/sync'),
    programOf('hosting', 'hosting', '--dir', '/h'),
    programOf('console', 'console', '--port', '8484'),
    programOf('controllers test', 'controllers', '--context', 'test'),
  ];
  const served = await serveMetrics(programs, { port: 9090 }, 8081);
  const asked = ['--prometheus-url', 'http://127.0.0.1:9090/'];
  expect(served.programs[2]?.command).toEqual(['node', 'main.ts', 'console', '--port', '8484', ...asked]);
  expect(served.expected.map(({ job, labels }) => [job, labels])).toEqual([
    ['sync', { instance: 'sync' }],
    ['hosting', { instance: 'hosting' }],
    ['controllers', { cluster: 'test', instance: 'controllers test' }],
  ]);
  const ports = served.expected.map(({ address }) => address.split(':')[1]);
  expect(new Set([...ports, '8081']).size).toBe(4);
  const others = served.programs.filter(({ name }) => name !== 'console');
  const added = others.map(({ command }) => command.slice(-4));
  expect(added).toEqual([
    ['--port', ports[0], ...asked],
    ['--dir', '/h', '--port', ports[1]],
    ['--port', ports[2], ...asked],
  ]);
});
