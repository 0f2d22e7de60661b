/** Reads what the preflight of a creation needs: sets and components from the views, and the versions of the control plane. */
import { MACHINE_COMPONENT_SETS, MACHINE_COMPONENTS } from '../../../../api/generated/resources.ts';
import type { Machine, MachineComponent, MachineComponentSet } from '../../../../api/generated/types.ts';
import type { Client } from '../../../../kube/client/client.ts';
import type { ReconcileContext } from '../../../../kube/controller/reconcile-context.ts';
import type { Clock } from '../../../../os/clock.ts';
import { messageOf } from '../../../../os/errors.ts';
import type { Provider } from '../../../../providers/contract.ts';
import type { Explanation } from '../../../../rollout/explanation.ts';
import type { ServerVersions } from '../../../../rollout/kubelet-skew.ts';
import { versionIn } from '../../../../rollout/server-version.ts';
import { shapeOf } from '../plan.ts';
import { expectedComponents } from './components.ts';
import { creationReason, expectsKubelet } from './plan.ts';

/** Resolves with why no instance is created for the machine now; undefined: one may be. */
export type CreationPreflight = (
  machine: Machine,
  provider: Provider,
  context: ReconcileContext,
) => Promise<Explanation | undefined>;

/** A cause that clears is noticed within ten seconds: half of it is for the next reconcile. */
const VERSION_KEEP_MS = 5000;
const VERSION_TIMEOUT_MS = 5000;

/** Creates the preflight with a client of kubenode-machine. The reconcile declares that it reads both kinds. */
export function createCreationPreflight(
  client: Pick<Client, 'raw' | 'server'>,
  clock: Clock,
): CreationPreflight {
  const readServers = createVersionReader(client, clock);
  return (machine, provider, context) => preflight({ machine, provider, readServers, context });
}

/**
 * Reads the version of the API server that answers, once for all machines that wait. The rollout of a kubelet asks each API server: here one
 * is enough, because during an upgrade the rollout assigns no kubelet.
 */
function createVersionReader(
  client: Pick<Client, 'raw' | 'server'>,
  clock: Clock,
): () => Promise<ServerVersions> {
  let kept: { readonly at: number; readonly versions: Promise<ServerVersions> } | undefined;
  return () => {
    const now = clock.monotonicMs();
    if (!kept || now - kept.at >= VERSION_KEEP_MS) kept = { at: now, versions: readVersion(client) };
    return kept.versions;
  };
}

async function readVersion(client: Pick<Client, 'raw' | 'server'>): Promise<ServerVersions> {
  try {
    const answer = await client.raw('/version', { timeoutMs: VERSION_TIMEOUT_MS });
    const version = versionIn(answer);
    if (version !== undefined) return { state: 'Known', versions: [version] };
    return { state: 'Unknown', because: `${client.server}/version has no gitVersion` };
  } catch (error) {
    return { state: 'Unknown', because: messageOf(error) };
  }
}

async function preflight({
  machine,
  provider,
  readServers,
  context,
}: {
  readonly machine: Machine;
  readonly provider: Provider;
  readonly readServers: () => Promise<ServerVersions>;
  readonly context: ReconcileContext;
}): Promise<Explanation | undefined> {
  const expected = expectedComponents(
    machine,
    context.view<MachineComponentSet>(MACHINE_COMPONENT_SETS).list(),
  );
  const components = context.view<MachineComponent>(MACHINE_COMPONENTS);
  const find = (componentRef: string): MachineComponent | undefined => components.get(componentRef);
  return creationReason({
    expected,
    find,
    servers: expectsKubelet({ expected, find }) ? await readServers() : undefined,
    platform: provider.platformOf?.(shapeOf(machine)),
  });
}
