/** Declares the part of ssh2 that the channel uses: the package ships no types. */
declare module 'ssh2' {
  import type { EventEmitter } from 'node:events';
  import type { Duplex, Readable } from 'node:stream';

  interface ParsedKey {
    isPrivateKey(): boolean;
  }

  type AuthMethod =
    | { readonly type: 'publickey'; readonly username: string; readonly key: ParsedKey }
    | { readonly type: 'agent'; readonly username: string; readonly agent: string };

  interface ConnectConfig {
    readonly sock: Duplex;
    readonly username: string;
    readonly authHandler: readonly AuthMethod[];
    readonly readyTimeout: number;
    readonly algorithms: { readonly serverHostKey: readonly string[] };
    readonly hostVerifier: (key: Buffer) => boolean;
  }

  interface Channel extends Duplex {
    readonly stderr: Readable;
  }

  interface Client extends EventEmitter {
    connect(config: ConnectConfig): void;
    exec(command: string, done: (error: Error | undefined, channel: Channel) => void): void;
    forwardOut(
      fromAddress: string,
      fromPort: number,
      address: string,
      port: number,
      done: (error: Error | undefined, channel: Channel) => void,
    ): void;
    end(): void;
    destroy(): void;
  }

  const ssh2: {
    readonly Client: new () => Client;
    readonly utils: { parseKey(key: string, passphrase?: string): ParsedKey | ParsedKey[] | Error };
  };

  export type { AuthMethod, Channel, Client, ParsedKey };
  export default ssh2;
}
