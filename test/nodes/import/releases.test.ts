/**
 * Bare hosts with another release of Debian, and so with another systemd, whose component is in a registry that asks for credentials. One of
 * the releases by the seed, all of them in a long run.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Machine } from '../../../src/api/generated/types.ts';
import { ANNOTATION_SECRET_USE, NAMESPACE } from '../../../src/api/names.ts';
import { API_VERSION } from '../../../src/api/version.ts';
import { conditionStatus } from '../../../src/kube/objects/conditions.ts';
import { SECRETS } from '../../../src/kube/objects/core-kinds.ts';
import { digestOf } from '../../../src/kube/objects/digest.ts';
import { tarGz } from '../../support/agent/archives.ts';
import type { BareHost } from '../../support/agent/node-cluster.ts';
import { DEBIAN_SUITES, type DebianSuite, nodeBase } from '../../support/node-kit/base.ts';
import { type TestNode, whyNoNodes } from '../../support/node-kit.ts';
import {
  BASIC,
  noRegistryReason,
  PASSWORD,
  pushArtifact,
  startRegistry,
  type TestRegistry,
} from '../../support/registry.ts';
import { slice } from '../../support/sweep-size.ts';
import { deleteMachineOf, namesOfMachines, readMachine, untilFleet } from '../observed-fleet.ts';
import { type BareFleet, startBareFleet, treeOf } from './bare-fleet.ts';

const reason = whyNoNodes() ?? noRegistryReason;
if (reason) process.stderr.write(`skipped: ${reason}\n`);

/** Their containerd: that of Debian 11 is too old for the kubelet. */
const RELEASES: readonly { readonly suite: DebianSuite; readonly runsKubelet: boolean }[] = [
  { suite: 'bullseye', runsKubelet: false },
  { suite: 'trixie', runsKubelet: true },
];
const CHOSEN = slice(RELEASES, 1);
const TOOL = 'tool';
const PROGRAM = '#!/bin/sh\nwhile :; do sleep 3600 & wait "$!"; done\n';
const CREDENTIALS = '/etc/kubenode/registries.json';

describe.skipIf(reason)(`hosts with other releases${reason ? ` (${reason})` : ''}`, () => {
  let fleet: BareFleet;

  beforeAll(async () => {
    // The first time, debootstrap makes each of them.
    for (const { suite } of CHOSEN) await nodeBase(suite);
    fleet = await startBareFleet([]);
  });
  afterAll(() => fleet?.[Symbol.asyncDispose]());

  it.each(CHOSEN)(
    'MAC-10 a host with $suite is imported with the credentials of a registry, and left as it was',
    async ({ suite, runsKubelet }) => {
      const host = await fleet.cluster.bootBare(`host-${suite}`, suite);
      const { node } = host;
      expect((await node.run('systemctl', '--version')).stdout).toContain(`systemd ${DEBIAN_SUITES[suite]} `);
      const registry = await startRegistry('Basic', '0.0.0.0');
      await forward(node, registry);
      const before = await treeOf(node);
      const pin = await publishTool(registry);
      await permitRegistry(host, registry);
      const others = runsKubelet ? fleet.pins('1.0.0').filter(({ name }) => name !== 'greeter') : [];
      await fleet.apply(declared(host, [...others, pin]));
      await until(node, 'the component of the registry is not in force', async () => {
        const { status } = await readMachine(fleet.client, node.name);
        const isDone = status?.components?.some(({ name, state }) => name === TOOL && state === 'Committed');
        return isDone === true && (!runsKubelet || conditionStatus(status?.conditions, 'Ready') === 'True');
      });
      expect((await node.run('systemctl', 'is-active', TOOL)).stdout).toBe('active\n');
      expect((await node.run('stat', '-c', '%U %a', CREDENTIALS)).stdout).toBe('root 600\n');
      await expectNoSecret(node);
      await deleteMachineOf(fleet, node.name);
      await until(
        node,
        'the Machine is left',
        async () => !(await namesOfMachines(fleet.client)).includes(node.name),
      );
      expect((await treeOf(node)).split('\n')).toEqual(before.split('\n'));
    },
  );

  async function until(node: TestNode, otherwise: string, isSo: () => Promise<boolean>): Promise<void> {
    await untilFleet({ ...fleet, nodes: [node] }, otherwise, isSo);
  }

  /** The registry at the same address on the host as here: one that is not local needs a certificate that the host trusts. */
  async function forward(node: TestNode, { name }: TestRegistry): Promise<void> {
    const [, port = ''] = name.split(':');
    const listen = `--socket-property=ListenStream=${name}`;
    const proxy = ['/lib/systemd/systemd-socket-proxyd', `${fleet.cluster.hostAddress}:${port}`];
    await node.run('systemd-run', '--quiet', '--unit=registry', listen, ...proxy);
  }

  async function publishTool(registry: TestRegistry): Promise<object> {
    const archive = tarGz([{ path: TOOL, content: PROGRAM }]);
    const { digest, layers } = await pushArtifact(registry, 'tools/tool', [archive]);
    const url = `oci://${registry.name}/tools/tool@${digest}`;
    const refused = await fetch(`http://${registry.name}/v2/tools/tool/manifests/${digest}`);
    expect(refused.status).toBe(401);
    const version = registry.name.replace(/.*:/, '1.0.');
    const stored = await fleet.cluster.publish({
      component: TOOL,
      version,
      artifacts: [{ os: 'linux', arch: 'any', format: 'TarGz', install: [], url, sha256: layers[0] }],
      units: [{ name: TOOL, exec: { argv: ['${dir}/tool'] } }],
      probes: [{ name: 'unit', unit: { name: TOOL }, periodSeconds: 1 }],
      activation: { class: 'Restart' },
      commitAfterSeconds: 1,
    });
    return { name: TOOL, componentRef: `${TOOL}-${version}`, digest: digestOf(stored) };
  }

  /** As a person does who lets this host have the credentials. */
  async function permitRegistry(
    { node, import: { credentialsRef } }: BareHost,
    { name }: TestRegistry,
  ): Promise<void> {
    const registries = JSON.stringify({ auths: { [name]: { auth: BASIC } } });
    const annotations = { [ANNOTATION_SECRET_USE]: `ssh; ${node.address}` };
    const body = { metadata: { annotations }, stringData: { 'registries.json': registries } };
    await fleet.client.patch(
      SECRETS,
      { namespace: NAMESPACE, name: credentialsRef.name },
      { type: 'merge', body },
    );
  }

  async function expectNoSecret(node: TestNode): Promise<void> {
    const machine: Machine = await readMachine(fleet.client, node.name);
    const events = await fleet.client.list(await fleet.client.resourceFor('v1', 'Event'));
    const { stdout: log } = await node.run('journalctl', '--no-pager', '--output=export');
    const written = [JSON.stringify(machine), JSON.stringify(events), log].join('\n');
    expect(log).toContain('kubenode-agent');
    for (const secret of [BASIC, PASSWORD]) expect(written.includes(secret)).toBe(false);
  }
});

function declared({ node, import: access }: BareHost, components: readonly object[]): object {
  const spec = { infra: { provider: 'ssh' }, import: access, components };
  return { apiVersion: API_VERSION, kind: 'Machine', metadata: { name: node.name }, spec };
}
