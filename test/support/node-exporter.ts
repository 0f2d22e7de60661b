/** A real node-exporter as a child of the test, which measures this computer. It is in Debian's package prometheus-node-exporter. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { findFreePort } from '../../src/os/net/ports.ts';
import { eventually } from './eventually.ts';

const PROGRAM = 'prometheus-node-exporter';

export const hasNodeExporter = spawnSync(PROGRAM, ['--version']).status === 0;
if (!hasNodeExporter) {
  process.stderr.write(`${PROGRAM} is not installed: queries about the utilization of nodes have no data\n`);
}

/** The others need programs that a container does not have. */
const COLLECTORS = ['cpu', 'meminfo', 'filesystem', 'netdev', 'uname'];

export interface NodeExporter {
  readonly address: string;
  stop(): Promise<void>;
}

export async function startNodeExporter(): Promise<NodeExporter> {
  const address = `127.0.0.1:${await findFreePort()}`;
  const collectors = COLLECTORS.map((name) => `--collector.${name}`);
  const flags = ['--collector.disable-defaults', ...collectors, '--log.level=error'];
  const child = spawn(PROGRAM, [...flags, `--web.listen-address=${address}`], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'exit');
  await eventually(
    async () =>
      (await fetch(`http://${address}/metrics`).catch(() => undefined))?.ok === true ? true : undefined,
    `${PROGRAM} does not answer`,
  );
  return {
    address,
    stop: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
