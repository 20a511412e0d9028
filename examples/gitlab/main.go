// Command gitlab is the story of an agent that is left alone on a repository.
package main

func main() {}
