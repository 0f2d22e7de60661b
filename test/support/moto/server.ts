/** A moto server on a port of its own. Must not import vitest: benchmarks use it too. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { findFreePort } from '../../../src/os/net/ports.ts';
import { pollUntil } from '../../../src/os/poll.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { motoServer } from './venv.ts';

export interface Moto extends AsyncDisposable {
  readonly url: string;
  /** Removes everything that was created. */
  reset(): Promise<void>;
}

const START_MS = 60_000;

export async function startMoto(): Promise<Moto> {
  const [program, port, clock] = [await motoServer(), await findFreePort(), createSystemClock()];
  const url = `http://127.0.0.1:${port}`;
  // Thirteen hundred images that no test uses would be loaded by each reset.
  const env = { ...process.env, MOTO_EC2_LOAD_DEFAULT_AMIS: 'false' };
  const child = spawn(program, ['-H', '127.0.0.1', '-p', String(port)], { env, stdio: 'ignore' });
  const exited = once(child, 'exit');
  const isUp = async (): Promise<boolean> => {
    if (child.exitCode !== null) throw new Error(`moto ended with exit code ${child.exitCode}`);
    return (await fetch(`${url}/moto-api/`).catch(() => undefined))?.ok === true;
  };
  const deadlineMs = clock.monotonicMs() + START_MS;
  if (!(await pollUntil(isUp, { clock, everyMs: 100, deadlineMs }))) {
    child.kill('SIGKILL');
    throw new Error(`moto does not answer at ${url}`);
  }
  return {
    url,
    async reset() {
      const { ok, status } = await fetch(`${url}/moto-api/reset`, { method: 'POST' });
      if (!ok) throw new Error(`moto answers ${status} to a reset`);
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
