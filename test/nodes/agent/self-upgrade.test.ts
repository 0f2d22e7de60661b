import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AGENT_COMPONENT, AGENT_PROGRAM_LINK, SLOTS_FILE } from '../../../src/agent/layout.ts';
import type { MachineComponentSpec } from '../../../src/api/generated/types.ts';
import {
  type AgentBuilds,
  agentComponent,
  FAULTS,
  prepareAgentBuilds,
} from '../../support/agent/agent-builds.ts';
import { type AgentNode, startAgentNode } from '../../support/agent/agent-node.ts';
import { componentSpec } from '../../support/agent/component-spec.ts';
import { eventually } from '../../support/eventually.ts';
import { whyNoNodes } from '../../support/node-kit.ts';

const reason = whyNoNodes();
if (reason) process.stderr.write(`skipped: ${reason}\n`);

// Each test begins where the one before it ended.
describe.skipIf(reason)(
  `the agent as a unit of systemd that is upgraded${reason ? ` (${reason})` : ''}`,
  { shuffle: false },
  () => {
    let agent: AgentNode;
    let builds: AgentBuilds;
    let proxy: MachineComponentSpec;
    let untouched: string;

    beforeAll(async () => {
      builds = await prepareAgentBuilds();
      agent = await startAgentNode('u1');
      const argv = ['/bin/sleep', 'infinity'];
      const unit = { ...componentSpec('1.0').units[0], exec: { argv, env: {}, user: 'root' } };
      proxy = await agent.publish(
        componentSpec('1.0', { artifacts: [], units: [unit] as never, commitAfterSeconds: 1 }),
      );
      await agent.declare([proxy]);
      await agent.reported('proxy', { state: 'Committed', ready: true });
      untouched = await proxyProcess();
    });
    afterAll(() => agent?.[Symbol.asyncDispose]());

    async function output(...argv: readonly string[]): Promise<string> {
      return (await agent.node.run(...(argv as [string, ...string[]]))).stdout.trim();
    }

    /** With its start: another process may get the same number. */
    async function proxyProcess(): Promise<string> {
      return await output('systemctl', 'show', '--property=MainPID,ExecMainStartTimestampMonotonic', 'proxy');
    }

    async function declare(version: string, fault?: keyof typeof FAULTS): Promise<void> {
      const file = builds.write(version, fault && FAULTS[fault]);
      const spec = await agent.publish(agentComponent(version, await agent.serve(file)));
      await agent.declare([proxy, spec]);
    }

    async function program(): Promise<string> {
      return await output('readlink', '-f', AGENT_PROGRAM_LINK);
    }

    async function isStarted(): Promise<true | undefined> {
      const slots = await output('cat', SLOTS_FILE);
      return slots.includes('"step":"Probation"') || undefined;
    }

    it('AGT-43 runs the new version behind the link of its unit, and no other process ends', async () => {
      await declare('1.1');
      await agent.reported(AGENT_COMPONENT, { state: 'Committed', currentRef: `${AGENT_COMPONENT}-1.1` });
      expect(await program()).toContain(`/opt/kubenode/${AGENT_COMPONENT}/1.1-`);
      expect(await output('systemctl', 'is-active', 'kubenode-agent')).toBe('active');
      expect(await proxyProcess()).toBe(untouched);
    });

    it.each(['ends when it starts', 'takes too much memory'] as const)(
      'AGT-43 returns the version before when the new one %s, and takes the watchdog away',
      async (fault) => {
        const version = fault === 'ends when it starts' ? '1.2' : '1.3';
        await declare(version, fault);
        const desiredRef = `${AGENT_COMPONENT}-${version}`;
        const report = await agent.reported(AGENT_COMPONENT, { desiredRef, state: 'RolledBack' });
        expect(report.currentRef).toBe(`${AGENT_COMPONENT}-1.1`);
        expect(report.error?.code).toMatch(/^Agent/);
        expect(await program()).toContain(`/opt/kubenode/${AGENT_COMPONENT}/1.1-`);
        expect(await output('systemctl', 'list-unit-files', '--no-legend', 'kubenode-agent*')).toMatch(
          /^kubenode-agent\.service +enabled/,
        );
        expect(await proxyProcess()).toBe(untouched);
      },
    );

    it('AGT-43 returns the version before also when the machine reboots while a new one hangs', async () => {
      await declare('1.4', 'hangs');
      await eventually(isStarted, 'the new version was not started', 60_000);
      await agent.node.reboot();
      const desiredRef = `${AGENT_COMPONENT}-1.4`;
      const report = await agent.reported(AGENT_COMPONENT, { desiredRef, state: 'RolledBack' });
      expect(report.error?.code).toBe('AgentUnhealthy');
      expect(await program()).toContain(`/opt/kubenode/${AGENT_COMPONENT}/1.1-`);
      await agent.reported('proxy', { state: 'Committed', ready: true });
    });
  },
);
