/**
 * Real nodes for tests: Debian with systemd in systemd-nspawn, on their own bridge.
 *
 *     describe.skipIf(whyNoNodes())('…', …)                       // and print the reason
 *     const kit = await nodeKit();                                // in beforeAll
 *     const node = await kit.boot({ name: 'node-1', cluster: server });   // with a kubelet; without `cluster` a bare node
 *     await node.reboot();
 *     await kit.remove(node);
 *     await kit.close();                                          // in afterAll; removes what is left
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ApiServerAddress } from './fault-proxy/upstream.ts';
import { type DebianSuite, nodeBase } from './node-kit/base.ts';
import { makeBridge } from './node-kit/bridge.ts';
import { KUBELET, kubeletBinary, putKubelet } from './node-kit/kubelet.ts';
import { nameOf, nextNumber } from './node-kit/marks.ts';
import { type RunningNode, startNode, type TestNode } from './node-kit/node.ts';
import { makeRootfs } from './node-kit/rootfs.ts';

export { whyNoNodes } from './node-kit/needs.ts';
export type { TestNode } from './node-kit/node.ts';

export interface NodeKit {
  /** Address of the host for the nodes: servers that they need listen there, or on 0.0.0.0. */
  readonly hostAddress: string;
  /** Resolves when systemd inside has started everything. A kubelet may not be Ready yet. */
  boot(options: BootOptions): Promise<TestNode>;
  /** Removes the node completely. */
  remove(node: TestNode): Promise<void>;
  close(): Promise<void>;
}

export interface BootOptions {
  readonly name: string;
  /** The release of Debian; default: the one of all other nodes. */
  readonly suite?: DebianSuite;
  /** With a kubelet that joins this API server, which listens on 0.0.0.0 and has `hostAddress` in its certificate. */
  readonly cluster?: ApiServerAddress;
  /** Read-only bind mounts, from a path of the host to one inside. */
  readonly binds?: readonly (readonly [outside: string, inside: string])[];
  /** Writes further files into the root file system of the node before it boots. */
  readonly prepare?: (root: string) => Promise<void>;
}

export async function nodeKit(): Promise<NodeKit> {
  const folder = await mkdtemp(join(tmpdir(), 'nodes-'));
  const bridge = await makeBridge();
  const nodes = new Map<string, RunningNode>();

  return { hostAddress: bridge.address, boot, remove, close };

  async function boot({ name, suite, cluster, binds = [], prepare }: BootOptions): Promise<TestNode> {
    if (nodes.has(name)) throw new Error(`there is a node ${name} already`);
    const root = join(folder, name);
    const identity = { name, ...bridge.nextAddress(), gateway: bridge.address };
    const { address, gateway } = identity;
    await makeRootfs(await nodeBase(suite), root, identity);
    if (cluster) await putKubelet(root, { server: cluster, gateway, node: name, address });
    await prepare?.(root);
    const kubelet = cluster ? [[await kubeletBinary(), KUBELET] as const] : [];
    const consoleLog = join(folder, `${name}.console`);
    const machine = nameOf(nextNumber());
    const parts = {
      name,
      machine,
      address,
      root,
      bridge: bridge.name,
      consoleLog,
      binds: [...kubelet, ...binds],
    };
    const node = await startNode(parts);
    nodes.set(name, node);
    return node;
  }

  async function remove({ name }: TestNode): Promise<void> {
    const node = nodes.get(name);
    if (!node) return;
    nodes.delete(name);
    await node.remove();
    await rm(node.root, { recursive: true, force: true, maxRetries: 3 });
    await rm(node.consoleLog, { force: true });
  }

  /** A node that cannot be removed does not prevent the removal of the others. */
  async function close(): Promise<void> {
    const results = await Promise.allSettled([...nodes.values()].map(remove));
    await bridge.remove();
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    const errors = results.flatMap((result) =>
      result.status === 'rejected' ? [result.reason as unknown] : [],
    );
    if (errors.length > 0) throw new AggregateError(errors, 'nodes that could not be removed');
  }
}
