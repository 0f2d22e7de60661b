/** The agent replaced by other builds of itself: real processes on a sandbox, and a real API server. */
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { MachineComponentSpec } from '../../../src/api/generated/types.ts';
import { installation } from '../../../src/api/install/install.ts';
import { sha256OfFile } from '../../../src/os/files.ts';
import {
  type AgentBuilds,
  agentComponent,
  FAULTS,
  prepareAgentBuilds,
} from '../../support/agent/agent-builds.ts';
import { slice } from '../../support/sweep-size.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { UpgradingAgent } from './upgrading-agent.ts';

/** Enough for a build that works on a machine under load. */
const SLOW_SECONDS = 60;
const AGENT = 'kubenode-agent';
const CODES: Readonly<Record<string, string>> = {
  'ends when it starts': 'AgentCrashed',
  hangs: 'AgentUnhealthy',
  'takes too much memory': 'AgentMemory',
  'does not find its certificate': 'AgentUnhealthy',
  'cannot reach the API server': 'AgentUnhealthy',
};

let installed: InstalledServer;
let builds: AgentBuilds;
let agent: UpgradingAgent | undefined;
beforeAll(async () => {
  builds = await prepareAgentBuilds();
  // Grants are written here without the Defender, which this policy forbids.
  const objects = installation().filter(({ metadata }) => !metadata.name.includes('components-writer'));
  installed = await startInstalledServer(objects);
});
afterEach(() => agent?.end());
afterAll(() => installed?.stop());

async function build(
  version: string,
  fault?: Parameters<AgentBuilds['write']>[1],
): Promise<MachineComponentSpec> {
  const file = builds.write(version, fault);
  return agentComponent(version, { url: pathToFileURL(file).href, sha256: await sha256OfFile(file) });
}

describe('an upgrade of the agent itself', () => {
  it('AGT-43 replaces the agent by a version that proves itself, and then by the one before', async () => {
    agent = new UpgradingAgent(installed, 's1');
    await agent.start(builds.first, SLOW_SECONDS);
    const untouched = agent.proxy();
    const versions = [await build('1.1'), await build('1.2')] as const;
    for (const spec of [...versions, versions[0]]) {
      await agent.declare(spec);
      const currentRef = `${AGENT}-${spec.version}`;
      await agent.reported(AGENT, { state: 'Committed', currentRef });
      expect(agent.programs()).toEqual([expect.stringContaining(`/opt/kubenode/${AGENT}/${spec.version}-`)]);
      const { upgrade, last } = agent.slots();
      expect([upgrade, last?.result]).toEqual([undefined, 'Committed']);
    }
    expect(agent.proxy()).toEqual(untouched);
  });

  const faults = Object.entries(FAULTS).map(([name, fault], index) => ({
    name,
    fault,
    version: `2.${index}`,
  }));
  it.each(slice(faults, 2))(
    'AGT-43 returns the old agent and denies a build that $name',
    async ({ name, fault, version }) => {
      agent = new UpgradingAgent(installed, `s2-${version.replace('.', '-')}`);
      await agent.start(builds.first, 12);
      const untouched = agent.proxy();
      await agent.declare(await build(version, fault));
      const report = await agent.reported(AGENT, { state: 'RolledBack' });
      expect(report.deniedDigests).toHaveLength(1);
      expect(report.error?.code).toBe(CODES[name]);
      expect(agent.programs()).toEqual([builds.first]);
      expect(agent.proxy()).toEqual(untouched);
      // The same entry is not tried again.
      expect(await agent.reported(AGENT, { state: 'RolledBack' })).toMatchObject({
        waiting: { reason: 'Denied' },
      });
    },
  );
});
