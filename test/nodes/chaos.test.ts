/**
 * Random breakages of a real node, one after the other: each ends as declared within 60 s, or a condition reports truly what is wrong.
 * test/README.md has how many there are, and how to repeat them.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MachineComponentSpec } from '../../src/api/generated/types.ts';
import { type AgentNode, startAgentNode } from '../support/agent/agent-node.ts';
import { containerdComponent, kubeletComponent, sshComponent } from '../support/agent/node-components.ts';
import type { Breakage } from '../support/chaos/breakage.ts';
import { type ChaosNode, type ChaosResult, createChaosNode } from '../support/chaos/chaos-node.ts';
import { putAgentClock } from '../support/chaos/clock.ts';
import { planRounds } from '../support/chaos/rounds.ts';
import {
  noOlderKubeletReason,
  OLDER_KUBELET_VERSION,
  olderKubelet,
} from '../support/node-kit/older-kubelet.ts';
import { whyNoNodes } from '../support/node-kit.ts';

const reason = whyNoNodes() ?? (await noOlderKubeletReason());
if (reason) process.stderr.write(`skipped: ${reason}\n`);

const NAME = 'chaos';
const VERSION = OLDER_KUBELET_VERSION.slice(1);
/** Of the breakages that the agent corrects by itself: the rest may wait for a retry after 60 s, and say so. */
const MOST = 0.75;

interface Node {
  readonly agent: AgentNode;
  readonly chaos: ChaosNode;
}

async function startNode(): Promise<Node> {
  const agent = await startAgentNode(NAME);
  try {
    const kubelet = kubeletComponent(VERSION, await agent.serve(await olderKubelet()));
    const components: MachineComponentSpec[] = [];
    for (const each of [sshComponent(), containerdComponent('1.0.0'), kubelet]) {
      components.push(await agent.publish(each));
    }
    await putAgentClock(agent.node);
    await agent.declare(components);
    await agent.reported('kubelet', { state: 'Committed', ready: true });
    return { agent, chaos: await createChaosNode({ agent, name: NAME, components }) };
  } catch (error) {
    await agent[Symbol.asyncDispose]();
    throw error;
  }
}

function explain(results: readonly ChaosResult[]): string {
  return results
    .map(({ verdict, seconds }) => {
      const end = verdict.is === 'Reported' ? `reported (${verdict.sentences.join('; ')})` : 'as declared';
      return `${end} after ${seconds} s`;
    })
    .join(', then ');
}

// Each breakage meets the node as the one before it left it.
describe.skipIf(reason)(`a real node under fire${reason ? ` (${reason})` : ''}`, { shuffle: false }, () => {
  describe.for(planRounds())('$title', ({ title, sequence }) => {
    let node: Node;
    let failed: string | undefined;
    const ended = new Map<Breakage, ChaosResult>();

    beforeAll(async () => {
      node = await startNode();
    });
    afterAll(() => node?.agent[Symbol.asyncDispose]());

    it.for(sequence.map((breakage, index) => [index + 1, breakage.id, breakage] as const))(
      '%i. %s',
      async ([number, id, breakage], { skip }) => {
        if (failed !== undefined) skip(`the node did not survive ${failed}`);
        const { agent, chaos } = node;
        try {
          const results = await chaos.survive(breakage);
          expect(results).not.toEqual([]);
          process.stderr.write(`${title}, ${number}. ${id}: ${explain(results)}\n`);
          if (results[0]) ended.set(breakage, results[0]);
        } catch (error) {
          failed = `${number}. ${id}`;
          const details = [await chaos.status(), await agent.log()].map((each) => each.slice(-40_000));
          const what = [`${title}: ${failed}`, JSON.stringify(breakage), String(error), ...details];
          throw new Error(what.join('\n'), { cause: error });
        }
      },
    );

    it('corrects most of what it does not leave to a person', ({ skip }) => {
      if (failed !== undefined) skip(`the node did not survive ${failed}`);
      const results = [...ended].filter(([{ ends }]) => ends === 'Correct');
      const corrected = results.filter(([, { verdict }]) => verdict.is === 'AsDeclared');
      expect(corrected.length).toBeGreaterThanOrEqual(MOST * results.length);
    });

    it('does not survive without its agent: what is broken then is found, and reported by nothing', async ({
      skip,
    }) => {
      if (failed !== undefined) skip(`the node did not survive ${failed}`);
      await node.agent.node.run('systemctl', 'stop', 'kubenode-agent', 'kubelet');
      const verdict = await node.chaos.judge();
      expect(verdict).toMatchObject({
        is: 'Violation',
        problems: expect.arrayContaining(['kubelet is inactive, and no condition reports it']) as unknown,
      });
    });
  });
});
