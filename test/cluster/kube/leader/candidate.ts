/**
 * A process that campaigns for a Lease and writes to a ConfigMap while it holds it, as fast as it can and with
 * compare-and-swap on the epoch. Tests start it, suspend it (SIGSTOP) and kill it.
 */
import { argv, exit, stdout } from 'node:process';
import type { Client } from '../../../../src/kube/client/client.ts';
import { connect } from '../../../../src/kube/client/connect.ts';
import { isKubeError } from '../../../../src/kube/client/errors.ts';
import { createLeaseElection } from '../../../../src/kube/leader/election.ts';
import { type Term } from '../../../../src/kube/leader/term.ts';
import { CONFIG_MAPS } from '../../../../src/kube/objects/core-kinds.ts';
import { textAt } from '../../../../src/kube/objects/json.ts';
import { createLogger } from '../../../../src/kube/process/logger.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';

const NAME = { namespace: 'default', name: 'written-by-the-leader' };

const [identity = '', kubeconfig = '', seconds = ''] = argv.slice(2);
const [leaseSeconds = 15, renewDeadlineSeconds = 10, retrySeconds = 2] = seconds.split('/').map(Number);
const clock = createSystemClock();

/** Writes one line for the test. */
function report(what: string, detail: object = {}): void {
  stdout.write(`${JSON.stringify({ what, identity, ...detail })}\n`);
}

let term: Term | undefined;
const client = await connect({ kubeconfig, fence: () => term?.fence() });
const unfenced = await connect({ kubeconfig });
const election = createLeaseElection({
  client: unfenced,
  name: { namespace: 'default', name: 'contended' },
  identity,
  clock,
  random: () => 0.5,
  log: createLogger({ clock }),
  leaseSeconds,
  renewDeadlineSeconds,
  retrySeconds,
});

for (;;) {
  const held = await election.campaign(new AbortController().signal);
  term = held;
  report('acquired', { epoch: held.epoch });
  await writeWhile(held, client);
  report('lost', { epoch: held.epoch });
  if (argv.includes('--once')) exit(0);
}

async function writeWhile(held: Term, writer: Client): Promise<void> {
  for (let count = 1; !held.lost.aborted; count += 1) {
    try {
      await writeOnce(held, writer, count);
    } catch (error) {
      if (!isKubeError(error)) report('error', { message: String(error) });
      await clock.sleep(20);
    }
  }
}

/** Compare-and-swap with the epoch: never overwrites a later term. */
async function writeOnce(held: Term, writer: Client, count: number): Promise<void> {
  const present = await unfenced.get(CONFIG_MAPS, NAME);
  if (Number(textAt(present, 'data', 'epoch') ?? 0) > held.epoch) return;
  const data = { epoch: String(held.epoch), by: identity, count: String(count) };
  await writer.replace(CONFIG_MAPS, { ...present, data }, { timeoutMs: 2000 });
}
