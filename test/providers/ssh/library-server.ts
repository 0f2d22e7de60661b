/** A real SSH server in this process, of the library that is also the client: the caller answers each command. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import ssh2 from 'ssh2';
import type { HostKey } from '../../../src/api/generated/types.ts';
import { hostKeyOf } from '../../../src/providers/ssh/host-keys.ts';

/** The session of one command: what the client sends, and what it gets. */
export interface CommandSession extends Duplex {
  readonly stderr: Duplex;
  exit(code: number): void;
}

export interface LibraryServer {
  readonly port: number;
  readonly hostKeys: readonly HostKey[];
  close(): Promise<void>;
}

export interface LibraryServerOptions {
  readonly address?: string;
  readonly port?: number;
  /** The public key that may log in, as a line of authorized_keys. */
  readonly authorized: string;
  /** Undefined: the server never answers to a command. */
  readonly onCommand?: (session: CommandSession) => void;
}

export async function startLibraryServer(options: LibraryServerOptions): Promise<LibraryServer> {
  const { address = '127.0.0.1', port = 0, authorized, onCommand } = options;
  const hostKey = generateHostKey();
  const allowed = LIBRARY.utils.parseKey(authorized);
  const server = new LIBRARY.Server({ hostKeys: [hostKey.private] }, (connection) => {
    connection.on('error', () => undefined);
    connection.on('authentication', (attempt) => {
      if (isAccepted(attempt, allowed)) attempt.accept();
      else attempt.reject(['publickey']);
    });
    connection.on('session', (accept) => {
      accept().on('exec', (acceptCommand) => {
        if (!onCommand) return;
        const session = acceptCommand();
        session.on('error', () => undefined);
        onCommand(session);
      });
    });
  });
  const sockets = new Set<Socket>();
  const listener = createServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    server.injectSocket(socket);
  });
  listener.listen(port, address);
  await once(listener, 'listening');
  return {
    port: (listener.address() as AddressInfo).port,
    hostKeys: [hostKeyOf(LIBRARY.utils.parseKey(hostKey.public).getPublicSSH())],
    close: async () => {
      if (!listener.listening) return;
      const closed = once(listener, 'close');
      listener.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** About one key in 300 that the library makes begins with a zero, which it leaves out: it cannot read that key itself. */
function generateHostKey(): ReturnType<typeof LIBRARY.utils.generateKeyPairSync> {
  const pair = LIBRARY.utils.generateKeyPairSync('ed25519');
  const isReadable = [pair.private, pair.public].every(
    (text) => !(LIBRARY.utils.parseKey(text) instanceof Error),
  );
  return isReadable ? pair : generateHostKey();
}

function isAccepted({ method, key, signature, blob, hashAlgo }: Authentication, allowed: PublicKey): boolean {
  if (method !== 'publickey' || !key?.data.equals(allowed.getPublicSSH())) return false;
  // The first request only asks whether the key would do.
  return signature === undefined || allowed.verify(blob, signature, hashAlgo) === true;
}

/** The parts of the library for servers. It ships no types. */
interface PublicKey {
  getPublicSSH(): Buffer;
  verify(data: Buffer | undefined, signature: Buffer, hash: string | undefined): boolean | Error;
}

interface Authentication {
  readonly method: string;
  readonly key?: { readonly data: Buffer };
  readonly signature?: Buffer;
  readonly blob?: Buffer;
  readonly hashAlgo?: string;
  accept(): void;
  reject(methods: readonly string[]): void;
}

interface LibrarySession {
  on(event: 'exec', listener: (accept: () => CommandSession) => void): void;
}

interface LibraryConnection {
  on(event: 'error', listener: () => void): void;
  on(event: 'authentication', listener: (attempt: Authentication) => void): void;
  on(event: 'session', listener: (accept: () => LibrarySession) => void): void;
}

const LIBRARY = ssh2 as unknown as {
  readonly Server: new (
    options: { readonly hostKeys: readonly string[] },
    connected: (connection: LibraryConnection) => void,
  ) => { injectSocket(socket: Socket): void };
  readonly utils: {
    generateKeyPairSync(type: 'ed25519'): { readonly private: string; readonly public: string };
    parseKey(text: string): PublicKey;
  };
};
