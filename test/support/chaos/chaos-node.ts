/** A real node under fire: carries out breakages, and waits for how they end. */
import { setTimeout as pause } from 'node:timers/promises';
import { MACHINES } from '../../../src/api/generated/resources.ts';
import type { Machine, MachineComponentSpec } from '../../../src/api/generated/types.ts';
import { bootstrapConfigFor } from '../../cluster/controllers/identity-controllers.ts';
import type { AgentNode } from '../agent/agent-node.ts';
import { BOOTSTRAP } from '../agent/booted-agent.ts';
import { eventually } from '../eventually.ts';
import { ProgramError } from '../node-kit/shell.ts';
import type { TestNode } from '../node-kit.ts';
import type { Breakage } from './breakage.ts';
import { UNMOUNT_SMALL_DISK } from './environment-breakages.ts';
import { type ChaosVerdict, judgeNode } from './judge.ts';
import type { HostObservation } from './observation.ts';
import { createObserver, type ObservedSince } from './observer.ts';

const WITHIN_SECONDS = 60;
const POLL_MS = 1000;
/** So often in a row a verdict has to be found: one moment may be that before a change. */
const STEADY = 2;

export interface ChaosResult {
  readonly verdict: ChaosVerdict;
  readonly seconds: number;
}

export interface ChaosNode {
  /** Breaks it, and resolves when it ends as it may. Rejects with what was found otherwise. */
  survive(breakage: Breakage): Promise<readonly ChaosResult[]>;
  /** What is found now. */
  judge(): Promise<ChaosVerdict>;
  /** What the Machine reports, as JSON. */
  status(): Promise<string>;
}

interface ChaosNodeOptions {
  readonly agent: AgentNode;
  readonly name: string;
  readonly components: readonly MachineComponentSpec[];
}

/** Resolves when the node is as declared by its own conditions. Every breakage has to end with the node as it is then. */
export async function createChaosNode({ agent, name, components }: ChaosNodeOptions): Promise<ChaosNode> {
  const { client } = agent.installed.server;
  const shell = (script: string): Promise<string> => runScript(agent.node, script);
  const observer = await createObserver(agent, name, shell);
  const declared = await eventually(firstObservation, 'the node is not as declared', WITHIN_SECONDS * 1000);
  let changes = 0;

  return {
    survive,
    judge: async () => judgeNode(declared, await observer.node({ renewTime: '' })),
    status: async () => JSON.stringify((await client.get<Machine>(MACHINES, { name })).status),
  };

  async function firstObservation(): Promise<HostObservation | undefined> {
    const host = await observer.host();
    const { is } = judgeNode(host, await observer.node({ renewTime: '' }));
    return is === 'AsDeclared' ? host : undefined;
  }

  async function survive(breakage: Breakage): Promise<readonly ChaosResult[]> {
    if (breakage.script !== undefined) await shell(breakage.script);
    await doOutside(breakage);
    const since = breakage.isCut ? 'Cut' : { renewTime: await observer.renewTime() };
    const first = await ended(breakage, since);
    if (breakage.remedy === undefined) return [first];
    if (breakage.remedyOutside === 'BringToken') await bringToken();
    await shell(breakage.remedy);
    const second = await ended({ ends: 'Correct' }, { renewTime: await observer.renewTime() });
    // The report of before the remedy is still there while the host joins.
    if (breakage.remedyOutside && second.verdict.is !== 'AsDeclared') {
      throw new Error(`the remedy of ${breakage.id} did not help: ${JSON.stringify(second.verdict)}`);
    }
    if (breakage.word === 'fill') await shell(UNMOUNT_SMALL_DISK);
    return [first, second];
  }

  async function doOutside({ outside }: Breakage): Promise<void> {
    if (outside === 'Reboot') await agent.node.reboot();
    if (outside === 'CutPower') {
      await agent.node.cutPower();
      await agent.node.powerOn();
    }
    if (outside === 'ChangeMachine') {
      changes += 1;
      const spec = { retryToken: `change-${changes}` };
      const object = { apiVersion: 'kubenode.dev/v1alpha1', kind: 'Machine', metadata: { name }, spec };
      await client.apply(MACHINES, object, { fieldManager: 'chaos', force: true });
    }
  }

  /** As docs/guides/join-a-machine.md describes it for a host whose state was removed: the epoch, and then a token. The node reaches the API server at another address than this process. */
  async function bringToken(): Promise<void> {
    const { spec } = await client.get<Machine>(MACHINES, { name });
    const epoch = { agentEpoch: (spec.agentEpoch ?? 0) + 1 };
    const object = { apiVersion: 'kubenode.dev/v1alpha1', kind: 'Machine', metadata: { name }, spec: epoch };
    await client.apply(MACHINES, object, { fieldManager: 'chaos-epoch', force: true });
    const config = await bootstrapConfigFor(agent.installed, name);
    const address = hostOf(await shell(`cat ${BOOTSTRAP}`));
    await shell(`cat > ${BOOTSTRAP} <<'EOT'\n${config.replaceAll(hostOf(config), address)}\nEOT\n`);
  }

  /** As the Defender does for a machine that waits. */
  async function grantWaiting(): Promise<void> {
    const { status } = await client.get<Machine>(MACHINES, { name });
    const isWaiting = status?.components?.some(({ waiting }) => waiting?.reason === 'GrantNeeded');
    if (isWaiting) await agent.declare(components);
  }

  /** A node that is declared to be corrected has the whole time for it before a report is enough. */
  async function ended(
    { ends, withinSeconds = WITHIN_SECONDS }: Pick<Breakage, 'ends' | 'withinSeconds'>,
    since: ObservedSince,
  ): Promise<ChaosResult> {
    const beganMs = performance.now();
    const isEnd = ({ is }: ChaosVerdict): boolean =>
      is === 'AsDeclared' || (is === 'Reported' && ends === 'Report');
    let steady = 0;
    return await eventually(
      async () => {
        if (since !== 'Cut') await grantWaiting();
        const verdict = judgeNode(declared, await observer.node(since));
        const seconds = Math.round((performance.now() - beganMs) / 1000);
        steady = isEnd(verdict) ? steady + 1 : 0;
        if (steady >= STEADY) return { verdict, seconds };
        if (seconds > withinSeconds) return lateResult(verdict, seconds);
        await pause(POLL_MS);
        return undefined;
      },
      'no end was found',
      2 * withinSeconds * 1000,
    );
  }
}

/** A report is enough, also where the agent is expected to correct. */
function lateResult(verdict: ChaosVerdict, seconds: number): ChaosResult {
  if (verdict.is !== 'Violation') return { verdict, seconds };
  throw new Error(verdict.problems.join('\n'));
}

/** The exit code of a script is that of what it broke. */
async function runScript(node: TestNode, script: string): Promise<string> {
  try {
    return (await node.run('/bin/bash', '-c', script)).stdout.trim();
  } catch (error) {
    if (error instanceof ProgramError) return error.stdout.trim();
    throw error;
  }
}

function hostOf(text: string): string {
  return /https:\/\/([^:/"]+)/.exec(text)?.[1] ?? '';
}
