import { describe, expect, it } from 'vitest';
import type { DesiredComponent } from '../../../src/agent/component/input.ts';
import type { AcceptedState } from '../../../src/agent/desired/accepted.ts';
import { type ResolveContext, resolveEntries } from '../../../src/agent/desired/resolve-entries.ts';
import { AGENT_COMPONENT, IDENTITY_KUBECONFIG } from '../../../src/agent/layout.ts';
import type { MachineComponentSpec } from '../../../src/api/generated/types.ts';
import { createProxyHost } from '../../support/agent/component-driver.ts';
import { componentSpec } from '../../support/agent/component-spec.ts';
import { entryOf } from '../../support/agent/fake-api.ts';
import { agentFile } from '../../support/agent/targets.ts';

const AGENT = componentSpec('1.0', { component: AGENT_COMPONENT, files: [], units: [] });
const NO_PROGRAM = 'this agent has no program of its own';

async function resolve(
  spec: MachineComponentSpec,
  entry: object = {},
  context: Partial<ResolveContext> & { readonly state?: Partial<AcceptedState> } = {},
): Promise<DesiredComponent | undefined> {
  const found = entryOf(spec, true, entry);
  const state = {
    name: 'n1',
    spec: { components: [found] },
    components: { [found.componentRef]: spec },
    ...context.state,
  } as unknown as AcceptedState;
  const usual = { host: createProxyHost(), clusterServer: 'https://10.0.0.1:6443', isExpired: () => false };
  return (await resolveEntries(state, { ...usual, ...context })).get(found.name);
}

describe('resolveEntries', () => {
  it('AGT-43 never removes the agent itself, and replaces it only where that is supported', async () => {
    expect(await resolve(AGENT)).toMatchObject({ state: 'Present' });
    expect(await resolve(AGENT, {}, { noSelfUpgrade: NO_PROGRAM })).toEqual({
      state: 'Invalid',
      message: NO_PROGRAM,
    });
    expect(await resolve(AGENT, { state: 'Absent' })).toEqual({
      state: 'Invalid',
      message: 'the agent cannot remove itself: remove the entry to leave it as it is',
    });
    expect(await resolve(componentSpec('1.0'), {}, { noSelfUpgrade: NO_PROGRAM })).toMatchObject({
      state: 'Present',
    });
  });

  it('AGT-16 waits for the certificate of the kubelet', async () => {
    const kubelet = componentSpec('1.0', { identity: 'Kubelet' });
    expect(await resolve(kubelet)).toEqual({
      state: 'Invalid',
      message: 'the certificate of the kubelet is not issued yet',
    });
    const host = createProxyHost();
    await host.files.write(IDENTITY_KUBECONFIG, new Uint8Array(), { mode: '0600', owner: 'root:root' });
    expect(await resolve(kubelet, {}, { host })).toMatchObject({ state: 'Present' });
  });

  it.each<[what: string, address: string | undefined, expected: string]>([
    ['that of its pool', '10.0.0.7', '10.0.0.7'],
    ['its name without one', undefined, 'n1'],
  ])('fills in the address of a host: %s', async (_, address, expected) => {
    const spec = componentSpec('1.0', { files: [agentFile('/etc/proxy/ip', '${machine.address}')] });
    const found = await resolve(spec, {}, { state: { ...(address !== undefined && { address }) } });
    expect(found).toMatchObject({ target: { files: [{ content: expected }] } });
  });

  it('AGT-23 takes over whether the grant of an entry has expired', async () => {
    const grant = { id: 'grant-proxy-1.0', expired: true };
    expect(await resolve(componentSpec('1.0'), {}, { isExpired: () => true })).toMatchObject({ grant });
    expect(await resolve(componentSpec('1.0'), { state: 'Absent' })).toMatchObject({ state: 'Absent' });
  });
});
