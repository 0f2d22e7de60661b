/** Asynchronous operations as Azure answers them. One goes on whenever it, or its virtual machine, is read. */
import type { CloudAnswer } from '../../cloud/cloud-proxy.ts';
import { ArmRefusal, jsonAnswer } from './refusal.ts';

export interface OperationFailure {
  readonly code: string;
  readonly message: string;
}

interface Operation {
  readonly vmName: string;
  /** Carries it out, and returns why it failed. */
  readonly end: () => OperationFailure | undefined;
  /** How many more reads find it under way. */
  left: number;
  result?: { readonly failure: OperationFailure | undefined };
}

export interface Operations {
  /** Begins an operation that this many reads find under way, and returns the path of its state. */
  begin(vmName: string, reads: number, end: Operation['end']): string;
  advance(vmName: string): void;
  poll(id: string): CloudAnswer;
}

const FOLDER = '/providers/Microsoft.Compute/locations/westeurope/operations';
const TIMES = { startTime: '2030-01-01T00:00:00+00:00' };

export function createOperations(subscription: string): Operations {
  const all = new Map<string, Operation>();
  return {
    begin(vmName, reads, end) {
      const id = `op-${all.size}`;
      all.set(id, { vmName, end, left: reads });
      return `/subscriptions/${subscription}${FOLDER}/${id}`;
    },
    advance(vmName) {
      for (const operation of all.values()) if (operation.vmName === vmName) step(operation);
    },
    poll(id) {
      const operation = all.get(id);
      if (!operation) throw new ArmRefusal(404, 'NotFound', 'The operation was not found.');
      step(operation);
      const { result } = operation;
      if (!result) return jsonAnswer(200, { ...TIMES, status: 'InProgress' }, { 'retry-after': '1' });
      const { failure: error } = result;
      return jsonAnswer(
        200,
        error ? { ...TIMES, status: 'Failed', error } : { ...TIMES, status: 'Succeeded' },
      );
    },
  };
}

function step(operation: Operation): void {
  if (operation.left > 0) operation.left -= 1;
  else operation.result ??= { failure: operation.end() };
}
