/** Reads Machines that follow the objects of another system. */
import { MACHINES } from '../../../src/api/generated/resources.ts';
import type { Machine } from '../../../src/api/generated/types.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { isKubeError } from '../../../src/kube/client/errors.ts';
import { conditionOf } from '../../../src/kube/objects/conditions.ts';

/** Kinds that appear are looked for every 15 seconds. */
export const APPEARS = { timeout: 40_000 };

export async function findMachine(client: Client, name: string): Promise<Machine | undefined> {
  try {
    return await client.get<Machine>(MACHINES, { name });
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return undefined;
    throw error;
  }
}

/** What the machine controller has found of the instance. */
export async function providerIdOf(client: Client, name: string): Promise<string | undefined> {
  return (await findMachine(client, name))?.status?.infra?.providerID;
}

/** The condition shows what the annotation asks for. */
export async function heldOf(client: Client, name: string): Promise<string> {
  const found = await findMachine(client, name);
  const { status, message } = conditionOf(found?.status?.conditions, 'Held') ?? {};
  return `${status} ${message}`;
}
