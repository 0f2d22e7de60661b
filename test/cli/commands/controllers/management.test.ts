import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import {
  addManagementOptions,
  type ManagementFlags,
  managementSettings,
} from '../../../../src/cli/commands/controllers/management.ts';

function parse(...args: readonly string[]): ManagementFlags {
  const command = addManagementOptions(new Command('controllers').exitOverride());
  command.configureOutput({ writeErr: () => undefined });
  command.option('--cluster-api');
  return command.parse(args, { from: 'user' }).opts();
}

const KUBECONFIG = ['--cluster-api-kubeconfig', 'management.yaml'];
const CLUSTER = ['--cluster-api-cluster', 'fleet/prod-eu-1'];

describe('the options of the management cluster', () => {
  it('CAP-21 name the connection and the Cluster, and are left out where all is in one cluster', () => {
    expect(managementSettings(parse('--cluster-api', ...KUBECONFIG, ...CLUSTER))).toEqual({
      connection: { kubeconfig: 'management.yaml' },
      cluster: { namespace: 'fleet', name: 'prod-eu-1' },
    });
    const context = ['--cluster-api-context', 'hub'];
    expect(managementSettings(parse('--cluster-api', ...KUBECONFIG, ...CLUSTER, ...context))).toMatchObject({
      connection: { context: 'hub' },
    });
    expect(managementSettings(parse('--cluster-api', ...CLUSTER))).toEqual({
      connection: undefined,
      cluster: { namespace: 'fleet', name: 'prod-eu-1' },
    });
    expect([managementSettings(parse('--cluster-api')), managementSettings(parse())]).toEqual([
      undefined,
      undefined,
    ]);
  });

  it.each([
    ['no Cluster', ['--cluster-api', ...KUBECONFIG]],
    ['a context without a kubeconfig', ['--cluster-api', ...CLUSTER, '--cluster-api-context', 'hub']],
    ['no --cluster-api', [...KUBECONFIG, ...CLUSTER]],
    ['a context alone', ['--cluster-api', '--cluster-api-context', 'hub']],
  ])('refuse %s', (_, args) => {
    expect(() => managementSettings(parse(...args))).toThrow(/a management cluster needs --cluster-api/);
  });

  it.each(['prod-eu-1', 'fleet/', '/prod-eu-1', 'fleet/a/b', 'Fleet/a', 'fleet/a,b', 'fleet/-a'])(
    'refuse a Cluster of the form %s',
    (text) => {
      expect(() => parse('--cluster-api-cluster', text)).toThrow(/Expected NAMESPACE\/NAME/);
    },
  );
});
