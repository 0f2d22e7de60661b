/** What a log line may hold besides its constant message. Errors go under `error`. */
export type Fields = Readonly<Record<string, unknown>>;

/** Structured log. Messages are constant strings; what varies is in the fields. */
export interface Log {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
  /** A log whose lines all carry these fields. */
  with(fields: Fields): Log;
}
