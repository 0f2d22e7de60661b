/** Carries out the decision to create or start an instance. Both may be repeated. */
import type { Machine } from '../../../api/generated/types.ts';
import { LABEL_MACHINESET } from '../../../api/names.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { isProviderError } from '../../../providers/contract.ts';
import { type InstanceAct, type InstanceScope, keyOf } from './act.ts';
import { retryAfterMs, tagsOf } from './calls.ts';
import { type InstanceDecision, shapeOf } from './plan.ts';

/** How long a token must still be valid to be given to a host that starts. */
const MIN_TOKEN_MS = 300_000;

/** Creates or starts the instance, and returns its id. */
export async function carryOutInstance(
  decision: Extract<InstanceDecision, { type: 'Create' | 'PowerOn' }>,
  { machine, provider, act }: InstanceAct,
): Promise<string> {
  const { signal } = act.context;
  if (decision.type === 'PowerOn') {
    await provider.power(decision.id, 'on', signal);
    return decision.id;
  }
  const bootstrap = decision.withBootstrap ? await bootstrapFor(machine, act) : undefined;
  signal.throwIfAborted();
  const { name } = machine.metadata;
  const set = machine.metadata.labels?.[LABEL_MACHINESET];
  const tags = { ...tagsOf(machine, act.clusterUid), ...optional('set', set) };
  const request = { ...shapeOf(machine), machine: name, tags, ...optional('bootstrap', bootstrap) };
  return await createWithin(machine, act, () => provider.create(request, signal));
}

/** Creates an instance, unless the provider refused the same to another machine just now. */
async function createWithin(
  machine: Machine,
  { capacity, context: { clock } }: InstanceScope,
  create: () => Promise<string>,
): Promise<string> {
  const key = keyOf(machine);
  const refused = capacity.take(key, machine.metadata.uid ?? '', clock.now());
  if (refused) throw refused.error;
  try {
    const id = await create();
    capacity.open(key);
    return id;
  } catch (error) {
    if (isProviderError(error, 'Quota')) {
      capacity.refuse(key, { error, until: new Date(clock.now().getTime() + retryAfterMs(error)) });
    }
    throw error;
  }
}

/** Returns the bootstrap file of a host. A create that is repeated uses the token of the last try. */
async function bootstrapFor(
  { metadata }: Machine,
  { delivered, createBootstrap, context }: InstanceScope,
): Promise<string> {
  const { name, uid = '' } = metadata;
  const now = context.clock.now();
  const last = delivered.get(uid);
  const isLeft = last && last.bootstrap.expiresAt.getTime() - now.getTime() > MIN_TOKEN_MS;
  const bootstrap = isLeft ? last.bootstrap : await createBootstrap(name);
  delivered.set(uid, { bootstrap, at: now });
  return bootstrap.text;
}
