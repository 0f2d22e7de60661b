/** What every part of the contract works with. */
import type { Host, UnitDefinition } from '../../../../src/agent/host/port.ts';
import { agentUnit } from '../targets.ts';

export interface ContractHost extends AsyncDisposable {
  readonly host: Host;
  /** The same host after the agent was restarted. */
  restartAgent(): Promise<Host>;
  /** Ends the main process of a unit, as a crash does. */
  crash(unit: string): Promise<void>;
  /** Masks a unit, as a person does. */
  mask(unit: string): Promise<void>;
  /** Path of the definition of a unit, for a person who edits it. */
  definitionFile(unit: string): string;
  /** Gives the host a unit that no agent wrote: it runs, and is not enabled. Absent where a host can have none. */
  readonly installUnit?: (unit: string) => Promise<void>;
  /** URL of content that the host can download. */
  publish(content: Uint8Array): Promise<string>;
  /** A .tar.gz with these files. */
  archive(files: ReadonlyMap<string, string>): Promise<Uint8Array>;
  /** A program that runs until it is stopped. */
  readonly runs: readonly string[];
  /** SHA-256 of that program. */
  programDigest(): Promise<string | undefined>;
  /** A program that does not start. */
  readonly fails: readonly string[];
  /** A program that ends with 0 at once. */
  readonly succeeds: readonly string[];
  /** A program that ends with 3 at once. */
  readonly exits: readonly string[];
}

export const PLAIN = { mode: '0644', owner: 'root:root' };
export const ROOT = '/etc/contract';
export const UNIT = 'kubenode-contract';
export const OTHER_UNIT = 'kubenode-other';

/** One host, new for each test. */
export class ContractBed {
  #contract: ContractHost | undefined;
  #host: Host | undefined;

  async open(contract: ContractHost): Promise<void> {
    this.#contract = contract;
    this.#host = contract.host;
  }

  async close(): Promise<void> {
    await this.#contract?.[Symbol.asyncDispose]();
  }

  get contract(): ContractHost {
    if (!this.#contract) throw new Error('the host is not open');
    return this.#contract;
  }

  get host(): Host {
    if (!this.#host) throw new Error('the host is not open');
    return this.#host;
  }

  async restartAgent(): Promise<void> {
    this.#host = await this.contract.restartAgent();
  }

  async write(path: string, content: string, attributes = PLAIN): Promise<void> {
    await this.host.files.write(path, bytes(content), attributes);
  }

  async text(path: string): Promise<string | undefined> {
    const content = await this.host.files.read(path);
    return content && new TextDecoder().decode(content);
  }

  unit(fields: Partial<UnitDefinition> = {}): UnitDefinition {
    return agentUnit(UNIT, { exec: execOf(this.contract.runs), ...fields });
  }

  failing(): UnitDefinition {
    return this.unit({ exec: execOf(this.contract.fails) });
  }

  async active(definition = this.unit()): Promise<string | undefined> {
    return (await this.host.units.status(definition))?.active;
  }
}

export function execOf(argv: readonly string[]): NonNullable<UnitDefinition['exec']> {
  return { argv, env: {}, user: 'root' };
}

export function bytes(content: string): Uint8Array {
  return new TextEncoder().encode(content);
}
