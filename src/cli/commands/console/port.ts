/** Where the console listens, unless a person or a demo chooses another port. */
export const CONSOLE_PORT = 8484;
