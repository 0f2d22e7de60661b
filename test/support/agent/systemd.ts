/** The systemd of a real node, for the contract of the host. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Host, UnitStatus } from '../../../src/agent/host/port.ts';
import { sha256OfFile } from '../../../src/os/files.ts';
import { eventually } from '../eventually.ts';
import { putFile } from '../node-kit/rootfs.ts';
import type { TestNode } from '../node-kit.ts';
import { tarGz } from './archives.ts';
import { type ContractHost, OTHER_UNIT, ROOT, UNIT } from './host-contract/bed.ts';
import { openRemoteHost, type RemoteHost } from './remote-host/remote-host.ts';
import { agentUnit } from './targets.ts';

const PUBLISHED = 'srv/published';
/** Where units of packages are: `systemctl mask` works for them. */
const PACKAGE_UNITS = 'usr/lib/systemd/system';

/**
 * systemd in a container finds the controllers of cgroup v1 read-only when it starts; a unit of the test makes them
 * writable later. Only then limits have an effect. With cgroup v2 there is nothing to do.
 */
export async function useControllers(node: TestNode): Promise<void> {
  await node.run('systemctl', 'daemon-reexec');
}

/** One process in the node serves all tests, until the agent restarts or the node reboots. */
export interface ContractNode extends AsyncDisposable {
  open(): Promise<ContractHost>;
}

export async function openContractNode(node: TestNode): Promise<ContractNode> {
  await useControllers(node);
  let remote = await openRemoteHost(node);
  let bootId = await node.bootId();

  async function restart(): Promise<RemoteHost> {
    // It ends by itself when the node reboots.
    if (remote.hasEnded()) {
      await node.bootedAgain(bootId);
      bootId = await node.bootId();
      await useControllers(node);
    } else await remote[Symbol.asyncDispose]();
    remote = await openRemoteHost(node);
    return remote;
  }

  return {
    async open() {
      const { host } = remote.hasEnded() ? await restart() : remote;
      await untilNoUnits(host);
      return contractHost(node, host, restart);
    },
    [Symbol.asyncDispose]: () => remote[Symbol.asyncDispose](),
  };
}

/** The host asks systemd a few times a second at most: it may still know the units of the test before. */
async function untilNoUnits({ units }: Host): Promise<void> {
  await eventually(async () => {
    const found = await Promise.all([UNIT, OTHER_UNIT].map((unit) => units.status(agentUnit(unit))));
    return found.every((status) => status === undefined) || undefined;
  }, 'units of the test before are left');
}

function contractHost(node: TestNode, host: Host, restart: () => Promise<RemoteHost>): ContractHost {
  /** The host asks systemd a few times a second at most. */
  async function untilObserved(unit: string, expected: (status: UnitStatus) => boolean): Promise<void> {
    await eventually(async () => {
      const status = await host.units.status(agentUnit(unit));
      return (status && expected(status)) || undefined;
    }, 'the host does not see what was done to the unit');
  }

  return {
    host,
    restartAgent: async () => (await restart()).host,
    async crash(unit) {
      await node.run('systemctl', 'kill', '--signal=SIGKILL', '--', `${unit}.service`);
    },
    async mask(unit) {
      await node.run('ln', '-sfn', '/dev/null', `/etc/systemd/system/${unit}.service`);
      await node.run('systemctl', 'daemon-reload');
      await untilObserved(unit, ({ masked }) => masked);
    },
    definitionFile: (unit) => `/etc/systemd/system/${unit}.service`,
    async installUnit(unit) {
      const text = '[Service]\nExecStart=/bin/sleep 600\n\n[Install]\nWantedBy=multi-user.target\n';
      await putFile(node.root, `${PACKAGE_UNITS}/${unit}.service`, text);
      await node.run('systemctl', 'daemon-reload');
      await node.run('systemctl', 'start', `${unit}.service`);
      await untilObserved(unit, ({ active }) => active === 'Active');
    },
    async publish(content) {
      const name = createHash('sha256').update(content).digest('hex');
      await putFile(node.root, join(PUBLISHED, name), Buffer.from(content).toString('latin1'));
      return `file:///${PUBLISHED}/${name}`;
    },
    archive: async (files) => tarGz([...files].map(([path, content]) => ({ path, content }))),
    runs: ['/bin/sleep', '600'],
    programDigest: () => sha256OfFile(join(node.root, 'usr/bin/sleep')),
    fails: ['/does/not/exist'],
    succeeds: ['/bin/true'],
    exits: ['/bin/sh', '-c', 'exit 3'],
    [Symbol.asyncDispose]: () => clean(node),
  };
}

async function clean(node: TestNode): Promise<void> {
  const units = [UNIT, OTHER_UNIT].map((each) => `${each}.service`);
  const paths = units.flatMap((unit) => [
    `/etc/systemd/system/${unit}`,
    `/etc/systemd/system/${unit}.d`,
    `/etc/systemd/system/multi-user.target.wants/${unit}`,
    `/${PACKAGE_UNITS}/${unit}`,
  ]);
  const script = `systemctl stop "$@" 2>/dev/null; systemctl reset-failed "$@" 2>/dev/null; rm -rf ${paths.join(' ')} ${PLACES}; systemctl daemon-reload`;
  await node.run('sh', '-c', script, 'sh', ...units);
}

const PLACES = `/var/lib/kubenode /etc/elsewhere ${ROOT}`;
