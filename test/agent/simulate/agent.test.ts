import { describe, expect, it, onTestFinished } from 'vitest';
import { createSimulatedHost } from '../../../src/agent/simulate/host.ts';
import type { ComponentArtifact } from '../../../src/api/generated/types.ts';
import { componentSpec } from '../../support/agent/component-spec.ts';
import { fakeAgentApi } from '../../support/agent/fake-api.ts';
import { openTestAgent } from '../../support/agent/open-agent.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const ARTIFACT = {
  os: 'any',
  arch: 'any',
  url: 'https://artifacts.example.com/proxy',
  mirrors: [],
  sha256: 'ab'.repeat(32),
  install: [],
} as const;

describe('an agent on a simulated host', () => {
  it.each<ComponentArtifact['format']>(['Raw', 'TarGz'])(
    'installs an artifact of format %s without its content, through the real reconcile, and upgrades it',
    async (format) => {
      const clock = virtualClock();
      const api = fakeAgentApi();
      const agent = await openTestAgent({ host: createSimulatedHost(clock), api, clock });
      onTestFinished(() => agent[Symbol.asyncDispose]());
      for (const version of ['1.0', '1.1']) {
        const sha256 = version === '1.0' ? ARTIFACT.sha256 : 'cd'.repeat(32);
        api.declare([componentSpec(version, { artifacts: [{ ...ARTIFACT, sha256, format }] })]);
        for (let passed = 0; passed < 50; passed += 5) {
          await agent.reconcile();
          await clock.advance(5000);
        }
        const [report] = api.statuses.at(-1)?.components ?? [];
        expect(report).toMatchObject({ state: 'Committed', currentRef: `proxy-${version}`, running: true });
      }
    },
  );
});
