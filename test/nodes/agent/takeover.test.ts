/** The program of the agent on a host that has no Node.js and nothing else of kubenode (libatomic1 is in the base): taken over as over SSH, and released. */
import { execFileSync } from 'node:child_process';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildExecutable } from '../../../scripts/agent/executable.ts';
import { buildBundle } from '../../../scripts/bundle.ts';
import { MACHINE_COMPONENTS, MACHINES } from '../../../src/api/generated/resources.ts';
import type { Machine, MachineComponent } from '../../../src/api/generated/types.ts';
import {
  NAMESPACE_AGENTS,
  PRINCIPAL_COMPONENTSET,
  PRINCIPAL_DEFENDER,
  SIGNER_AGENT,
} from '../../../src/api/names.ts';
import {
  CERTIFICATE_REQUESTS,
  type CertificateRequestObject,
} from '../../../src/kube/auth/certificate-requests.ts';
import { LEASES } from '../../../src/kube/leader/record.ts';
import { createPrincipal } from '../../../src/local/pki/principal.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { type InstalledServer, startInstalledServer } from '../../cluster/api/installed-server.ts';
import { componentSpec } from '../../support/agent/component-spec.ts';
import { entryOf } from '../../support/agent/fake-api.ts';
import { startControllerManager } from '../../support/controller-manager.ts';
import { eventually } from '../../support/eventually.ts';
import { createGranter } from '../../support/granter.ts';
import { putFile } from '../../support/node-kit/rootfs.ts';
import { type NodeKit, nodeKit, type TestNode, whyNoNodes } from '../../support/node-kit.ts';
import { tempFolder } from '../../support/temp.ts';

const reason = whyNoNodes();
if (reason) process.stderr.write(`skipped: ${reason}\n`);

const PROGRAM = '/root/kubenode-agent';
/** systemd-nspawn mounts a boot id of the node into /proc/sys. A unit with one of these options sees that of this machine. */
const OWN_BOOT_ID = '[Service]\nProtectKernelTunables=no\nProtectControlGroups=no\n';
const API = 'kubenode.dev/v1alpha1';

describe.skipIf(reason)(`the program of the agent on a bare host${reason ? ` (${reason})` : ''}`, () => {
  let kit: NodeKit;
  let node: TestNode;
  let installed: InstalledServer;
  let stopManager: () => Promise<void>;
  let uid: string;

  beforeAll(async () => {
    kit = await nodeKit();
    installed = await startInstalledServer(undefined, { bindAddress: '0.0.0.0', names: [kit.hostAddress] });
    stopManager = await startControllerManager(installed.server, ['csrsigning']);
    const work = tempFolder('executable');
    const { file: bundle } = await buildBundle('agent', work);
    const file = join(work, 'kubenode-agent');
    const arch = process.arch === 'arm64' ? 'arm64' : 'amd64';
    await buildExecutable({ bundle, file, work, arch });
    node = await kit.boot({
      name: 't1',
      async prepare(root) {
        await copyFile(file, join(root, PROGRAM));
        await putFile(root, 'etc/systemd/system/kubenode-agent.service.d/boot-id.conf', OWN_BOOT_ID);
      },
    });
    await declare([]);
    uid = (await installed.server.client.get<Machine>(MACHINES, { name: 't1' })).metadata.uid ?? '';
  });
  afterAll(async () => {
    await kit?.close();
    await stopManager?.();
    await installed?.stop();
  });

  async function declare(components: Machine['spec']['components']): Promise<void> {
    const spec = { infra: { provider: 'local' }, host: { type: 'systemd' }, components };
    const object = { apiVersion: API, kind: 'Machine', metadata: { name: 't1' }, spec };
    await installed.server.client.apply(MACHINES, object, { fieldManager: 'test', force: true });
  }

  /** Values go in by stdin, as over SSH. */
  async function agent(input: string, ...args: readonly string[]): Promise<string> {
    const command = 'input=$1; shift; printf %s "$input" | "$@"';
    return (await node.run('sh', '-c', command, 'sh', input, PROGRAM, ...args)).stdout;
  }

  /** Everything but logs, and what systemd itself writes while it runs. */
  async function tree(): Promise<string> {
    const { stdout } = await node.run(
      'sh',
      '-c',
      `find / -xdev \\( -path /var/log -o -path /run -o -path /tmp -o -path /var/lib/systemd \\) -prune \
         -o -printf '%p %y %m %u:%g %l\\n' | sort
       find /etc /opt /root /usr /var/lib -xdev -path /var/lib/systemd -prune -o -type f -print0 |
         sort -z | xargs -0 sha256sum`,
    );
    return stdout;
  }

  async function sign(request: string): Promise<string> {
    const { client, kubectl, kubeconfig } = installed.server;
    const metadata = { name: 'kubenode-agent-t1-test' };
    await client.create(CERTIFICATE_REQUESTS, {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata,
      spec: {
        request: Buffer.from(request).toString('base64'),
        signerName: SIGNER_AGENT,
        usages: ['client auth', 'digital signature'],
      },
    });
    execFileSync(kubectl, ['--kubeconfig', kubeconfig, 'certificate', 'approve', metadata.name]);
    const issued = async (): Promise<string | undefined> =>
      (await client.get<CertificateRequestObject>(CERTIFICATE_REQUESTS, metadata)).status?.certificate;
    return Buffer.from(await eventually(issued, 'no certificate was issued'), 'base64').toString('utf8');
  }

  /** A service of a person, which runs under the name of a unit of the component. */
  async function startOwnRelay(): Promise<void> {
    const text = '[Service]\\nExecStart=/bin/sleep 86400\\n[Install]\\nWantedBy=multi-user.target\\n';
    await node.run('sh', '-c', `printf '${text}' > /etc/systemd/system/relay.service`);
    await node.run('systemctl', 'enable', '--now', 'relay.service');
  }

  async function relayArguments(): Promise<string> {
    const shown = await node.run('systemctl', 'show', '--property=MainPID', '--value', 'relay.service');
    const { stdout } = await node.run('cat', `/proc/${shown.stdout.trim()}/cmdline`);
    return stdout.split('\0').join(' ').trim();
  }

  it('MAC-10 MAC-20 is installed without Node.js, reports with a certificate for a key of its own, and leaves no trace', async () => {
    await expect(node.run('sh', '-c', 'command -v node')).rejects.toThrow('command -v node');
    await startOwnRelay();
    const before = await tree();
    const install = ['install', '--machine', 't1', '-o', 'json'] as const;
    const owner = JSON.stringify({ machineUid: uid });
    const placed = JSON.parse(await agent(owner, ...install)) as object;
    expect(placed).toMatchObject({ unit: 'kubenode-agent.service' });
    expect(JSON.parse(await agent(owner, ...install))).toEqual(placed);
    await expect(node.run('systemctl', 'is-active', 'kubenode-agent')).rejects.toMatchObject({
      stdout: 'inactive\n',
    });

    const certificatePem = await sign(await agent('', 'request', '--machine', 't1'));
    const server = `https://${kit.hostAddress}:${new URL(installed.server.url).port}`;
    const access = JSON.stringify({ certificatePem, server, ca: installed.server.caPem });
    await agent(access, 'accept', '--machine', 't1');
    await agent(access, 'accept', '--machine', 't1');
    const { client } = installed.server;
    const lease = { name: 't1', namespace: NAMESPACE_AGENTS };
    await eventually(async () => await client.get(LEASES, lease).catch(() => undefined), 'no Lease').catch(
      async (error: unknown) => {
        const { stdout } = await node.run('journalctl', '--no-pager', '--unit=kubenode-agent');
        throw new Error(`${String(error)}\n${stdout}`);
      },
    );
    await installComponent();
    // The agent has replaced the process that the person had started.
    expect(await relayArguments()).toBe('/bin/sleep infinity');

    const other = agent(JSON.stringify({ machineUid: 'another' }), ...install);
    await expect(other).rejects.toThrow(/HostInUse this host belongs to Machine t1/);
    const released = JSON.parse(await agent('', 'release', '--machine-uid', uid, '-o', 'json')) as object;
    expect(released).toEqual({ left: [] });
    expect(await tree()).toBe(before);
    await expect(node.run('systemctl', 'cat', 'proxy')).rejects.toThrow('No files found');
    expect(await relayArguments()).toBe('/bin/sleep 86400');
    const { stdout } = await node.run('systemctl', 'is-enabled', 'relay.service');
    expect(stdout).toBe('enabled\n');
  });

  /** Two units and a file, which the agent has until the release. The host runs one of the units already. */
  async function installComponent(): Promise<void> {
    const unit = {
      ...componentSpec('1.0').units[0],
      exec: { argv: ['/bin/sleep', 'infinity'], env: {}, user: 'root' },
    };
    const fields = {
      artifacts: [],
      units: [unit, { ...unit, name: 'relay' }] as never,
      commitAfterSeconds: 1,
    };
    const object = {
      apiVersion: API,
      kind: 'MachineComponent',
      metadata: { name: 'proxy-1.0' },
      spec: componentSpec('1.0', fields),
    };
    const { client } = installed.server;
    await client.apply(MACHINE_COMPONENTS, object, { fieldManager: 'test', force: true });
    const { spec } = await client.get<MachineComponent>(MACHINE_COMPONENTS, object.metadata);
    await declare([entryOf(spec, false)]);
    const [defender, componentset] = await Promise.all(
      [PRINCIPAL_DEFENDER, PRINCIPAL_COMPONENTSET].map((principal) => {
        const { user, groups } = createPrincipal(principal);
        return installed.as(user, groups);
      }),
    );
    if (!defender || !componentset) throw new Error('not signed in');
    await createGranter({ defender, componentset, clock: createSystemClock() }).grantEntries('t1');
    const runs = async (): Promise<true | undefined> => {
      const { status } = await client.get<Machine>(MACHINES, { name: 't1' });
      return status?.components?.some(({ state }) => state === 'Committed') || undefined;
    };
    await eventually(runs, 'the component was not installed');
  }
});
