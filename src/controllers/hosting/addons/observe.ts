/** Compares the add-ons of a hosted cluster with their manifests. */
import type { HostedAddon } from '../../../api/generated/types.ts';
import type { Client } from '../../../kube/client/client.ts';
import { builtinKindFinding } from '../../../kube/health/builtin-kinds.ts';
import { NODES } from '../../../kube/objects/core-kinds.ts';
import { diffObjects } from '../../../kube/objects/diff.ts';
import { matchesValue } from '../../../kube/objects/field-differences.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { HostingError } from '../errors.ts';
import { isDeclared } from './declared.ts';
import { type AddonInventory, listInventories, referenceKey } from './execute/inventory.ts';
import { applyAddonObject, findServed, readLive, type ServedObject } from './execute/objects.ts';
import { notOursReason } from './ownership.ts';
import type { AddonObject, AddonsReport, InstalledAddon } from './report.ts';
import type { AddonSource } from './source.ts';

/** Bounds the status; the next comparison finds the others. */
const MAX_NAMED = 20;
const MAX_FIELDS = 3;

export interface CompareParts {
  readonly declared: readonly HostedAddon[];
  readonly client: Client;
  readonly source: AddonSource;
  readonly signal: AbortSignal;
}

export async function observeAddons(parts: CompareParts): Promise<AddonsReport> {
  const { declared, client, signal } = parts;
  const inventories = await listInventories(client, signal);
  const installed: InstalledAddon[] = [];
  for (const inventory of inventories) {
    const addon = declared.find(
      ({ name, enabled, sha256 }) =>
        enabled && name === inventory.name && sha256 === inventory.applied && sha256 === inventory.begun,
    );
    installed.push(addon ? await compareAddon(addon, inventory, parts) : reportOf(inventory));
  }
  const hasNodes = installed.length > 0 && (await client.list(NODES, { limit: 1, signal })).items.length > 0;
  return { installed, hasNodes };
}

function reportOf({ name, begun, applied }: AddonInventory): InstalledAddon {
  return { name, begun, applied, drifted: [], unready: [] };
}

async function compareAddon(
  addon: HostedAddon,
  inventory: AddonInventory,
  parts: CompareParts,
): Promise<InstalledAddon> {
  try {
    const objects = await parts.source.objects(addon, parts.signal);
    return { ...reportOf(inventory), ...(await compareObjects(addon, objects, parts)) };
  } catch (error) {
    if (!(error instanceof HostingError)) throw error;
    const { message, hint } = error;
    return { ...reportOf(inventory), problem: hint === undefined ? message : `${message}; ${hint}` };
  }
}

async function compareObjects(
  addon: HostedAddon,
  objects: readonly KubeObject[],
  parts: CompareParts,
): Promise<Pick<InstalledAddon, 'drifted' | 'unready'>> {
  const [drifted, unready]: [AddonObject[], AddonObject[]] = [[], []];
  for (const each of objects) {
    const { drift, health } = await compareObject(addon, each, parts);
    const object = referenceKey(each);
    if (drift !== undefined) drifted.push({ object, because: drift });
    if (health !== undefined) unready.push({ object, because: health });
  }
  return { drifted: drifted.slice(0, MAX_NAMED), unready: unready.slice(0, MAX_NAMED) };
}

interface Comparison {
  readonly drift?: string | undefined;
  readonly health?: string | undefined;
}

async function compareObject(
  addon: HostedAddon,
  object: KubeObject,
  parts: CompareParts,
): Promise<Comparison> {
  const { client, signal, declared } = parts;
  const served = await findServed(client, object);
  const live = served && (await readLive(client, served, signal));
  if (!live) return { drift: 'it is missing' };
  if (live.metadata.deletionTimestamp !== undefined) return { health: 'it is being deleted' };
  const notOurs = notOursReason(live, addon.name, (name) => isDeclared(declared, name));
  if (notOurs !== undefined) return { drift: notOurs };
  const finding = builtinKindFinding(live, live.metadata.generation ?? 0);
  const health = finding.state === 'healthy' ? undefined : finding.because;
  return { health, drift: await driftReason(addon, served, live, parts) };
}

/** A dry run decides only where the text differs: the server writes many values in another form. */
async function driftReason(
  addon: HostedAddon,
  served: ServedObject,
  live: KubeObject,
  { client, signal }: CompareParts,
): Promise<string | undefined> {
  if (matchesValue(served.object, live)) return undefined;
  const result = await applyAddonObject(client, served, { addon, signal, dryRun: true });
  const fields = diffObjects(live, result).map(({ path }) => path);
  return fields.length === 0 ? undefined : `it differs in ${fields.slice(0, MAX_FIELDS).join(', ')}`;
}
