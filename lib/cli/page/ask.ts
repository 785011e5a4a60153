import type { About } from '../console/wire.ts'

let token = ''

/** Asks the console. @throws Error with a sentence that says what to do */
export async function ask<Answer>(path: string, query: URLSearchParams = new URLSearchParams()): Promise<Answer> {
  return answerOf(await send(`api/${path}?${query}`, {}))
}

/** Has something done. @throws Error with a sentence that says what to do */
export async function tell<Answer>(path: string, body: unknown = {}): Promise<Answer> {
  const headers = { 'x-console-token': token, 'content-type': 'application/json' }
  return answerOf(await send(`api/${path}`, { method: 'POST', headers, body: JSON.stringify(body) }))
}

/** Asks first of all what this is the console of. */
export async function askAbout(): Promise<About> {
  const about = await ask<About>('about')
  token = about.token
  return about
}

async function send(url: string, request: RequestInit): Promise<Response> {
  try {
    return await fetch(url, request)
  } catch {
    throw new Error('The console does not answer: it was ended. Start it again, and open the address that it prints.')
  }
}

async function answerOf<Answer>(response: Response): Promise<Answer> {
  if (response.ok) return (await response.json()) as Answer
  const text = await response.text()
  try {
    const { error } = JSON.parse(text) as { readonly error: { readonly message: string } }
    return await Promise.reject(new Error(error.message))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new Error('The console was started anew, under another address. Open the one that it has printed.')
  }
}
