/** A node that boots with the agent as its hardened unit, and with what it joins with. */
import { readFile } from 'node:fs/promises';
import { buildBundle } from '../../../scripts/bundle.ts';
import { formatAgentUnit } from '../../../src/agent/install/own-unit.ts';
import { putFile, putUnit } from '../node-kit/rootfs.ts';
import type { NodeKit, TestNode } from '../node-kit.ts';
import { tempFolder } from '../temp.ts';

const NODE = '/usr/local/bin/node';
const PROGRAM = '/usr/local/lib/kubenode/agent.mjs';
/** systemd-nspawn mounts a boot id of the node into /proc/sys. A unit with one of these options sees that of this machine. */
const OWN_BOOT_ID = '[Service]\nProtectKernelTunables=no\nProtectControlGroups=no\n';
/** What the agent joins with. */
export const BOOTSTRAP = '/etc/kubenode/bootstrap.json';

/** Boots a node whose agent joins with this bootstrap file. `prepare` writes further files before. */
export async function bootAgentNode(kit: NodeKit, name: string, bootstrap: string): Promise<TestNode> {
  const { file } = await buildBundle('agent', tempFolder('bundle'));
  const program = await readFile(file, 'utf8');
  return await kit.boot({
    name,
    binds: [[process.execPath, NODE]],
    async prepare(root) {
      await putFile(root, PROGRAM, program, 0o755);
      await putFile(root, BOOTSTRAP, bootstrap, 0o600);
      const options = { machine: name, node: NODE, program: PROGRAM, bootstrap: BOOTSTRAP, port: 0 };
      await putUnit(root, 'kubenode-agent.service', formatAgentUnit(options));
      await putOwnBootId(root);
    },
  });
}

/** The agent of the node has the boot id of the node, and not that of this machine. */
export async function putOwnBootId(root: string): Promise<void> {
  await putFile(root, 'etc/systemd/system/kubenode-agent.service.d/boot-id.conf', OWN_BOOT_ID);
}
