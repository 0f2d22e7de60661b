/** A hub on a real API server, with `kubenode hosting` beside it, and the commands of a person. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { closeRun, openRun } from '../../test/support/control-plane-run.ts';
import { startServer } from '../../test/support/control-plane-server.ts';
import { shellEnv } from '../../test/support/local-fleet.ts';
import { KUBENODE_FLAGS } from '../bench.ts';

export interface BenchHub {
  /** The process of `kubenode hosting`. */
  readonly pid: number;
  readonly folder: string;
  /** Rejects unless the command succeeds. */
  kubenode(...args: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}

/** As a person runs it: with the cache of compiled code. */
const PROGRAM = [...KUBENODE_FLAGS, new URL('../../bin/kubenode.js', import.meta.url).pathname];

export async function startBenchHub(parent: string): Promise<BenchHub> {
  const folder = join(parent, 'hosting');
  const shared = await openRun();
  const server = await startServer(shared);
  const { kubeconfig } = server;
  const stopServer = async (): Promise<void> => {
    await server.stop();
    await closeRun(shared);
  };
  try {
    await succeed([...PROGRAM, 'install', '--kubeconfig', kubeconfig]);
  } catch (error) {
    await stopServer();
    throw error;
  }
  // Fills that cache, so that the process below loads no program that strips types: the package has none to strip.
  await succeed([...PROGRAM, 'hosting', '--help']);
  const args = [...PROGRAM, 'hosting', '--kubeconfig', kubeconfig, '--dir', folder, '--log-level', 'warn'];
  const hosting = spawn(execPath, args, { env: shellEnv(), stdio: ['ignore', 'ignore', 'inherit'] });
  return {
    pid: hosting.pid ?? 0,
    folder,
    kubenode: (...words) => succeed([...PROGRAM, ...words, '--kubeconfig', kubeconfig]),
    stop: async () => {
      await stop(hosting);
      await stopServer();
    },
  };
}

async function succeed(args: readonly string[]): Promise<void> {
  const child = spawn(execPath, args, { env: shellEnv(), stdio: ['ignore', 'ignore', 'pipe'] });
  let message = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    message += text;
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`${args.join(' ')}: exit code ${code}: ${message}`);
}

async function stop(hosting: ChildProcess): Promise<void> {
  if (hosting.exitCode !== null || hosting.signalCode !== null) return;
  hosting.kill('SIGKILL');
  await once(hosting, 'exit');
}
