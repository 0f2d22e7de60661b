/** One case of the contract suite. */
import type { Instance, InstanceRequest, InstanceShape, Provider } from '../../../src/providers/contract.ts';
import { type ContractHarness, NEVER, type requestOf } from './harness.ts';

/** What a case works with: opened for it alone. */
export interface ContractCase {
  readonly harness: ContractHarness;
  readonly provider: Provider;
  readonly shape: InstanceShape;
  create(changes?: Parameters<typeof requestOf>[1]): Promise<Created>;
}

export interface Created {
  readonly id: string;
  readonly uid: string;
  readonly request: InstanceRequest;
}

export type OpenCase = () => ContractCase;

export async function instanceOf(
  { provider }: Pick<ContractCase, 'provider'>,
  id: string,
): Promise<Instance> {
  const found = await provider.get(id, NEVER);
  if (!found) throw new Error(`${id} was not found`);
  return found;
}
