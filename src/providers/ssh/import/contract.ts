/**
 * Defines what the machine controller asks of a host that it imports over SSH. Every call may be repeated, also by another process after
 * the one that began it was killed: each finds on the host what was done. Nothing that a call returns, throws or logs has a secret in it.
 */
import type { HostKey, MachineDeletion, MachineImport } from '../../../api/generated/types.ts';
import type { ServerAddress } from '../preflight/check.ts';
import type { InspectedHost } from '../preflight/inspect.ts';

/** The host of one Machine, and what it takes to reach it. */
export interface ImportTarget {
  readonly machine: string;
  readonly machineUid: string;
  readonly spec: MachineImport;
  /** The key that was recorded at the first connection, for hostKeyPolicy TrustOnFirstUse. */
  readonly knownHostKey?: HostKey;
  readonly secret: ImportSecret;
}

/** The content of the Secret of `credentialsRef`. */
export interface ImportSecret {
  readonly privateKey: string;
  readonly passphrase?: string;
  /** Without it, a user other than root needs sudo without a password. */
  readonly sudoPassword?: string;
  /** The credentials of registries for the agent of the host, as a config.json of Docker. */
  readonly registries?: string;
}

export interface ImportHosts {
  /** Throws an SshError: HostKeyMismatch, AuthRefused, Unreachable, Timeout… */
  connect(target: ImportTarget, signal: AbortSignal): Promise<ImportHost>;
}

/** A connection to one host. It is used by one caller at a time. */
export interface ImportHost {
  /** The key that the host has shown, which was accepted. */
  readonly hostKey: HostKey;
  /** Reads facts, and changes nothing. */
  inspect(server: ServerAddress | undefined): Promise<InspectedHost>;
  /**
   * Puts the program of the agent on the host, verifies its sha256 there, and installs its unit without starting it. A host that belongs
   * to another Machine is left as it is: throws an ImportError HostInUse.
   */
  install(): Promise<InstalledProgram>;
  /** Returns the certificate request of the agent as PEM. The key is made on the host, once, and stays there. */
  request(options?: CertificateRequestOptions): Promise<string>;
  /** Stores the certificate, and where the API server is, and starts the agent. */
  deliver(access: DeliveredAccess): Promise<void>;
  /** Undoes the import. `left` lists what it could not undo, by path or unit. */
  release(cleanup: MachineDeletion['cleanup']): Promise<ReleaseReport>;
  close(): void;
}

export interface CertificateRequestOptions {
  /** Makes another request although the host has a certificate: spec.agentEpoch was raised. */
  readonly renew?: boolean;
}

export interface InstalledProgram {
  readonly version: string;
  readonly sha256: string;
}

export interface DeliveredAccess {
  readonly certificatePem: string;
  readonly server: string;
  /** PEM; without it the CAs of the host are trusted. */
  readonly ca?: string;
}

export interface ReleaseReport {
  readonly left: readonly string[];
}
