/** The time from an ask to its grant on a real API server, against a bare loop that reads and replaces the same ledger. */
import { setTimeout as pause } from 'node:timers/promises';
import { DEFENDER_LEDGERS } from '../src/api/generated/resources.ts';
import type { DefenderLedger } from '../src/api/generated/types.ts';
import type { GrantAsk } from '../src/api/grants.ts';
import { install, installation } from '../src/api/install/install.ts';
import { LEDGER, PRINCIPAL_DEFENDER } from '../src/api/names.ts';
import { createLedger, type Ledger } from '../src/defender/ledger/ledger.ts';
import { createLedgerStore } from '../src/defender/ledger/store.ts';
import { preparePolicies } from '../src/defender/policies/prepare.ts';
import type { Client } from '../src/kube/client/client.ts';
import { connect } from '../src/kube/client/connect.ts';
import { createPrincipal } from '../src/local/pki/principal.ts';
import { createSystemClock } from '../src/os/system-clock.ts';
import { ask, fleetFacts, machines, policy } from '../test/defender/builders.ts';
import { closeRun, openRun } from '../test/support/control-plane-run.ts';
import { startServer } from '../test/support/control-plane-server.ts';
import { memoryLog } from '../test/support/memory-log.ts';
import { type Bench, type BenchResult, percentile } from './bench.ts';

const MACHINES = 2000;
const ASKS_PER_SECOND = 20;
const SECONDS = 10;
const BARE_WRITES = 50;
/** Grants in flight while asks arrive. A ledger has at most 512; asks and their settlements need some room. */
const SIZES = [0, 100, 400] as const;
const clock = createSystemClock();

export const bench: Bench = {
  name: 'ask',
  what: 'ask to grant at 20 asks a second on a real API server with 0, 100 and 400 grants in flight, against a bare read and replace of the same ledger',
  run,
};

async function run(): Promise<BenchResult> {
  const shared = await openRun();
  const server = await startServer(shared);
  const client = await connect({
    kubeconfig: await server.kubeconfigFor(createPrincipal(PRINCIPAL_DEFENDER)),
  });
  try {
    await install(server.client, { clock, objects: installation() });
    const ledger = ledgerOf(client);
    const measured: Record<string, number> = {};
    const baseline: Record<string, number> = {};
    for (const size of SIZES) {
      await fill(ledger, size);
      baseline[`writeP95Ms${size}`] = percentile(await bareWrites(client), 0.95);
      const waits = await askSteadily(ledger);
      measured[`askP50Ms${size}`] = percentile(waits, 0.5);
      measured[`askP95Ms${size}`] = percentile(waits, 0.95);
      measured[`ledgerKiB${size}`] = Math.round(JSON.stringify(await read(client)).length / 1024);
    }
    return resultOf(measured, baseline);
  } finally {
    await client.close();
    await server.stop();
    await closeRun(shared);
  }
}

function resultOf(measured: Record<string, number>, baseline: Record<string, number>): BenchResult {
  const ratios = Object.fromEntries(
    SIZES.map((size) => [
      `p95OverWrite${size}`,
      (measured[`askP95Ms${size}`] ?? 0) / (baseline[`writeP95Ms${size}`] ?? 1),
    ]),
  );
  return {
    measured,
    baseline,
    ratios,
    gates: [
      {
        what: 'ask to grant, p95 in ms, with an empty ledger',
        value: measured['askP95Ms0'] ?? Number.NaN,
        atMost: 150,
      },
    ],
    setting: { machines: MACHINES, asksPerSecond: ASKS_PER_SECOND, seconds: SECONDS },
  };
}

/** Without views: they feed the facts, and no ask waits for them. */
function ledgerOf(client: Client): Ledger {
  const policies = [policy()];
  const facts = fleetFacts(machines(MACHINES), policies);
  const prepared = preparePolicies(policies);
  return createLedger({
    store: createLedgerStore({ client }),
    clock,
    log: memoryLog(),
    policies: () => prepared,
    facts: () => facts,
    liveGrants: () => [],
    leads: () => true,
  });
}

/** The last machines have grants; the first ones are asked for. */
async function fill(ledger: Ledger, size: number): Promise<void> {
  const asks = Array.from({ length: size }, (_, index) => asking(MACHINES - index));
  const answers = await ledger.ask(asks);
  if (answers.some((answer) => !answer.granted)) throw new Error('the ledger was not filled');
}

/** Asks arrive on their own schedule, also when answers are late. Each grant is given back at once. */
async function askSteadily(ledger: Ledger): Promise<readonly number[]> {
  const waits: number[] = [];
  const began = performance.now();
  const running: Promise<void>[] = [];
  for (let index = 0; index < ASKS_PER_SECOND * SECONDS; index += 1) {
    await pause(Math.max(0, began + (index * 1000) / ASKS_PER_SECOND - performance.now()));
    running.push(askOnce(ledger, 1 + (index % (MACHINES / 2)), waits));
  }
  await Promise.all(running);
  return waits;
}

async function askOnce(ledger: Ledger, index: number, waits: number[]): Promise<void> {
  const began = performance.now();
  const [answer] = await ledger.ask([asking(index)]);
  waits.push(performance.now() - began);
  if (!answer?.granted) throw new Error(`denied: ${answer?.reason}`);
  const { id, fence } = answer;
  await ledger.settle([{ id, fence, outcome: 'Unused' }]);
}

function asking(index: number): GrantAsk {
  // Not a repair, for which the Nodes of the builders are too young.
  const holder = { kind: 'Other', name: `tool-${index}` } as const;
  return ask({ machine: `m-${index}`, holder, factsAt: clock.now() });
}

async function bareWrites(client: Client): Promise<readonly number[]> {
  const times: number[] = [];
  for (let count = 0; count < BARE_WRITES; count += 1) {
    const began = performance.now();
    const found = await read(client);
    await client.replace(DEFENDER_LEDGERS, { ...found, spec: { ...found.spec, seq: found.spec.seq + 1 } });
    times.push(performance.now() - began);
  }
  return times;
}

async function read(client: Client): Promise<DefenderLedger> {
  return await client.get<DefenderLedger>(DEFENDER_LEDGERS, { name: LEDGER });
}
