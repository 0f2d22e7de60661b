import { readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { GROUP_RIGHTS } from '../../../src/providers/azure/check.ts';
import type { ProviderCheck } from '../../../src/providers/contract.ts';
import { NEVER } from '../contract/harness.ts';
import { type AzureBed, CONFIG, openAzureBed } from './bed.ts';
import { REFUSALS } from './server/refusal.ts';

const SHAPE = {
  config: {
    ...CONFIG,
    networkSecurityGroupId: `${CONFIG.subnetId.split('/providers/')[0]}/providers/Microsoft.Network/networkSecurityGroups/nodes`,
  },
  host: 'systemd',
} as const;
const OPERATIONS = 'Microsoft.Compute/locations/operations/read';
const JOIN_SUBNET = 'Microsoft.Network/virtualNetworks/subnets/join/action';
const JOIN_GROUP = 'Microsoft.Network/networkSecurityGroups/join/action';

/** With these actions at the resource group, and those that the other scopes need. */
async function open(actions: readonly string[] = GROUP_RIGHTS): Promise<AzureBed> {
  const bed = await openAzureBed();
  onTestFinished(() => bed[Symbol.asyncDispose]());
  bed.arm.permissions.set('/resourceGroups/nodes', [{ actions, notActions: [] }]);
  bed.arm.permissions.set('/subnets/nodes', [{ actions: [JOIN_SUBNET], notActions: [] }]);
  bed.arm.permissions.set('/networkSecurityGroups/nodes', [{ actions: [JOIN_GROUP], notActions: [] }]);
  return bed;
}

function withResult(
  result: ProviderCheck['result'],
  checks: readonly ProviderCheck[] = [],
): readonly string[] {
  return checks.filter((each) => each.result === result).map(({ right }) => right);
}

describe('the check of provider azure', () => {
  it('finds all rights, and creates and changes nothing', async () => {
    const { provider, proxy } = await open();
    const checks = await provider.check?.(SHAPE, NEVER);
    expect(checks).toHaveLength(GROUP_RIGHTS.length + 4);
    expect(withResult('Allowed', checks)).toEqual([
      ...GROUP_RIGHTS,
      'Microsoft.ResourceHealth/events/read',
      OPERATIONS,
      JOIN_SUBNET,
      JOIN_GROUP,
    ]);
    const changes = proxy.requests.filter(
      ({ method, path }) => method !== 'GET' && !path.includes('/oauth2/'),
    );
    expect(changes).toEqual([]);
  });

  it.each(GROUP_RIGHTS)('names the missing right %s, and no other', async (denied) => {
    const { provider } = await open(GROUP_RIGHTS.filter((right) => right !== denied));
    expect(withResult('Missing', await provider.check?.(SHAPE, NEVER))).toEqual([denied]);
  });

  it.each([
    ['operations', '/operations/', OPERATIONS],
    ['events', '/Microsoft.ResourceHealth/events', 'Microsoft.ResourceHealth/events/read'],
  ])('names the missing right to read %s of the subscription', async (_, part, right) => {
    const { provider, arm } = await open();
    arm.refuseNext(({ path }) => path.includes(part), REFUSALS.noRight);
    expect(withResult('Missing', await provider.check?.(SHAPE, NEVER))).toEqual([right]);
  });

  it('names a subnet and a group that must not be joined', async () => {
    const { provider, arm } = await open();
    arm.permissions.delete('/subnets/nodes');
    arm.permissions.delete('/networkSecurityGroups/nodes');
    expect(withResult('Missing', await provider.check?.(SHAPE, NEVER))).toEqual([JOIN_SUBNET, JOIN_GROUP]);
  });

  it('does not know the right to join without a config', async () => {
    const { provider } = await open();
    expect(withResult('Unknown', await provider.check?.(undefined, NEVER))).toContain(JOIN_SUBNET);
  });

  it('knows no right that it may not list, and names the one that it lacks', async () => {
    const { provider, arm } = await open();
    arm.refuseNext(({ path }) => path.includes('/permissions'), REFUSALS.noRight);
    const checks = await provider.check?.(undefined, NEVER);
    expect(withResult('Missing', checks)).toEqual(['Microsoft.Authorization/permissions/read']);
    expect(withResult('Unknown', checks)).toEqual(expect.arrayContaining([...GROUP_RIGHTS]));
  });

  it('ends at credentials that are refused', async () => {
    const { env, openWith } = await open();
    const wrong = openWith({ env: { ...env, AZURE_CLIENT_SECRET: 'wrong' } });
    const checks = await wrong.check?.(SHAPE, NEVER);
    expect(checks?.map(({ right, result }) => `${right} ${result}`)).toEqual([
      'Microsoft.Authorization/permissions/read Refused',
    ]);
  });

  it('needs the rights that the page of the provider lists', () => {
    const page = readFileSync('docs/reference/providers/azure.md', 'utf8');
    const role = /```json\n(?<role>\{\s+"Actions"[^`]+)```/.exec(page)?.groups?.['role'] ?? '{}';
    const { Actions } = JSON.parse(role) as { readonly Actions: readonly string[] };
    const listed = ['Microsoft.Compute/locations/operations/read', ...GROUP_RIGHTS];
    expect([...Actions].toSorted()).toEqual(listed.toSorted());
  });
});
