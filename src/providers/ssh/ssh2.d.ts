/** Declares the part of ssh2 that the channel uses: the package ships no types. */
declare module 'ssh2' {
  import type { EventEmitter } from 'node:events';
  import type { Duplex, Readable } from 'node:stream';

  interface ConnectConfig {
    readonly host?: string;
    readonly port?: number;
    readonly sock?: Duplex;
    readonly username: string;
    readonly privateKey?: string;
    readonly passphrase?: string;
    readonly agent?: string;
    readonly authHandler: readonly ('publickey' | 'agent')[];
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
    readonly utils: { parseKey(key: string, passphrase?: string): object | Error };
  };
  export type { Channel, Client, ConnectConfig };
  export default ssh2;
}
